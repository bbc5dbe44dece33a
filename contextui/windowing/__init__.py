"""What a window is: state, actions, content at three levels of detail, and its XML."""
