"""The built-in windows, one file each, written exactly as anyone would write one."""
