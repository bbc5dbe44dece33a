"""Lines on a page that scrolls: folded to its width, and drawn only while they are seen."""
