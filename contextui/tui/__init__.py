"""The screen: live windows, the conversation, and an inspector of all that the model sees.

`app` only wires; `main` is the screen, with a pane for each of `desktop`, `conversation` and
`inspector`. It is given a `desk` and hears of its session through `link`, in batches. What the
person tells the program itself is in `commands` and `menu`, what is said to the model goes
through `talk`.
"""
