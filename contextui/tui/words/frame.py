"""The Chinese of the frame around everything: header, panes, keys, commands, dialogs."""

CHINESE: dict[str, str] = {
    "Chat": "对话",
    "Windows": "窗口",
    "Context": "上下文",
    "offline model": "离线模型",
    "send": "发送",
    "new line": "换行",
    "commands": "命令",
    "next pane": "下一区",
    "go to": "跳到",
    "inspector": "检查器",
    "palette": "命令面板",
    "help": "帮助",
    "quit": "退出",
    "you": "你",
    "model": "模型",
}
