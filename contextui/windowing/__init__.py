"""Windows: state, actions, content at three levels of detail, and their XML.

Authors extend `window.Window` and declare actions (`action`, `params`); `manager` holds the open
windows. Each has a `runtime` that resolves a call to an intent, has it approved and runs it on the
window's own thread (`worker`), where every call commits or is rolled back (`transaction`, `core`,
`state`). Jobs and processes go on beside that (`job`, `background`). An action of the model is
refused once if the window has changed since the model saw it. The rest of the program takes
finished renders (`render`) and never waits. `finding` discovers window classes.
"""

from typing import TYPE_CHECKING

from contextui.lazy import lazy_exports

if TYPE_CHECKING:
    from contextui.windowing.action import ActionResult as ActionResult
    from contextui.windowing.action import Button as Button
    from contextui.windowing.action import Form as Form
    from contextui.windowing.action import Reference as Reference
    from contextui.windowing.finding.registry import Registry as Registry
    from contextui.windowing.finding.registry import discover as discover
    from contextui.windowing.finding.trust import TrustStore as TrustStore
    from contextui.windowing.job import CommandResult as CommandResult
    from contextui.windowing.manager import WindowManager as WindowManager
    from contextui.windowing.preview import CommandPreview as CommandPreview
    from contextui.windowing.preview import Preview as Preview
    from contextui.windowing.state import Transient as Transient
    from contextui.windowing.template import write_new_window as write_new_window
    from contextui.windowing.window import Window as Window

__getattr__, __dir__ = lazy_exports(__name__)
