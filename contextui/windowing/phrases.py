"""Messages of the framework about windows, for the model and the person, in both languages."""

from dataclasses import dataclass

from contextui.config.settings import Lang


@dataclass(frozen=True, slots=True)
class WindowWords:
    """The message templates: lookup, actions, params, closing and errors."""

    no_class: str
    no_window: str
    is_closed: str
    too_many: str
    none: str

    done: str
    no_action: str
    reference: str
    takes: str
    no_params: str
    busy: str
    not_now: str
    given_up_early: str
    as_it_was: str
    no_preview: str
    preview_type: str
    preview_size: str
    preview_target: str
    preview_letter: str
    preview_changes: str
    withheld: str

    not_an_object: str
    missing: str
    unknown: str
    expected: str
    got: str
    problems: str

    close: str
    closed: str
    closed_with: str
    given_up: str

    opening: str
    still_opening: str
    did_not_open: str
    not_drawn: str
    not_drawn_yet: str
    late: str
    timer_failed: str
    goodbye_failed: str
    only_looks: str
    changed_outside: str
    frozen: str
    not_savable: str


_ALL: dict[Lang, WindowWords] = {
    "en": WindowWords(
        no_class="There is no window called {name}. There is: {names}.",
        no_window="There is no window {id}. Open windows: {names}.",
        is_closed="{id} is closed.",
        too_many="{count} windows are open, and more may not be (max_windows). Close one first.",
        none="none",
        done="Done.",
        no_action="{id} has no action {name}. It has: {names}.",
        reference="{name} is a reference: it locates, it does not act.",
        takes="{name} takes {names}.",
        no_params="no params",
        busy="{id} did not answer within {seconds:g} s.",
        not_now="{id} did not answer in time.",
        given_up_early="{id}: given up before it finished.",
        as_it_was="{reason} The window is as it was.",
        no_preview="There is no preview, so it cannot be allowed: {reason}",
        preview_type="preview() returned {type}; it must return a Preview, text or None.",
        preview_size="the preview has {size:,} characters, {most:,} at most can be shown.",
        preview_target="the preview names no target.",
        preview_letter="the target's name contains {code}, which cannot be shown.",
        preview_changes="{name} was not carried out: what it would do changed each time that it "
        "was allowed.",
        withheld="Content withheld: {names} may hold secrets. Acting on this window asks the "
        "person for it.",
        not_an_object="params must be an object, not a {type}.",
        missing="{name} is missing",
        unknown="there is no param {name}",
        expected="expected {type}",
        got="{name}: {expected}, got {value}",
        problems="{what}: {problems}. Expected: {expected}",
        close="Close",
        closed="{id} closed.",
        closed_with="{id} closed: {summary}",
        given_up="Not saved, and given up by that: {what}. Opening it again does not bring it "
        "back; only the session's log still has it.",
        opening="Opening…",
        still_opening="{id} is still opening. Try again when it has opened.",
        did_not_open="did not open: {reason}",
        not_drawn="could not be drawn",
        not_drawn_yet="{id} has not been drawn yet.",
        late="is late: busy for {seconds:.1f} s, its last render is shown",
        timer_failed="a timer failed: {reason}",
        goodbye_failed="closed() failed: {reason}",
        only_looks="{call} changed the state; that was taken back",
        changed_outside="its state was changed outside an action; that was discarded",
        frozen="{id}: the state is changed only inside the window's actions, hooks and timers.",
        not_savable="its state cannot be saved: {reason}",
    ),
    "zh": WindowWords(
        no_class="没有名为 {name} 的窗口。可用的有：{names}。",
        no_window="没有窗口 {id}。已打开的窗口：{names}。",
        is_closed="{id} 已关闭。",
        too_many="已打开 {count} 个窗口，不能再多（max_windows）。请先关闭一个。",
        none="无",
        done="完成。",
        no_action="{id} 没有操作 {name}。它有：{names}。",
        reference="{name} 是引用：它只指明位置，不能执行。",
        takes="{name} 接受 {names}。",
        no_params="无参数",
        busy="{id} 在 {seconds:g} 秒内没有回应。",
        not_now="{id} 没有及时回应。",
        given_up_early="{id}：在完成之前已放弃。",
        as_it_was="{reason}窗口保持原样。",
        no_preview="没有预览，因此不能批准：{reason}",
        preview_type="preview() 返回了 {type}；它必须返回 Preview、文字或 None。",
        preview_size="预览有 {size:,} 个字符，最多能显示 {most:,} 个。",
        preview_target="预览没有写明目标。",
        preview_letter="目标名称含有无法显示的 {code}。",
        preview_changes="{name} 没有执行：每次批准之后，它要做的事都变了。",
        withheld="内容未提供：{names} 可能含有机密。操作此窗口时会询问用户。",
        not_an_object="params 必须是对象，而不是 {type}。",
        missing="缺少 {name}",
        unknown="没有参数 {name}",
        expected="应为 {type}",
        got="{name}：{expected}，得到的是 {value}",
        problems="{what}：{problems}。应为：{expected}",
        close="关闭",
        closed="{id} 已关闭。",
        closed_with="{id} 已关闭：{summary}",
        given_up="随之放弃了未保存的内容：{what}。再次打开也不会恢复；只有会话日志中还留有它。",
        opening="正在打开…",
        still_opening="{id} 仍在打开。请等它打开后再试。",
        did_not_open="没有打开：{reason}",
        not_drawn="无法显示",
        not_drawn_yet="{id} 还没有显示过。",
        late="响应迟缓：已忙碌 {seconds:.1f} 秒，显示的是上一次的内容",
        timer_failed="定时器出错：{reason}",
        goodbye_failed="closed() 出错：{reason}",
        only_looks="{call} 改动了状态；改动已撤回",
        changed_outside="它的状态在操作之外被改动；改动已丢弃",
        frozen="{id}：状态只能在窗口的操作、钩子和定时器中改变。",
        not_savable="它的状态无法保存：{reason}",
    ),
}


def of(lang: Lang) -> WindowWords:
    """Return the messages in this language."""
    return _ALL[lang]
