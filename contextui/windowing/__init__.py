"""Windows: state, actions, content at three levels of detail, and their XML.

Authors extend `window.Window`; `manager` holds the open windows. Each has a `runtime` that runs its
code on its own thread (`worker`), where every call commits or is rolled back (`transaction`,
`state`). The rest of the program takes finished renders (`render`) and never waits. `finding`
discovers window classes; `testing` helps their authors.
"""
