"""The screen: live windows, the conversation, and an inspector of all that the model sees."""
