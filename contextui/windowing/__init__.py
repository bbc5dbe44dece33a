"""What a window is: state, actions, content at three levels of detail, and its XML.

`base` is what an author extends, `manager` holds the windows that are open. Each has a `runtime`,
which acts on the window's own thread (`worker`), where a call commits or leaves no trace; what
the window holds is its `standing`, what it shows its `renders`. The rest of the program takes
finished renders and never waits. `finding` finds the classes; `testing` is for those who write
them.
"""
