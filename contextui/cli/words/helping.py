"""Chinese texts of `--help`, and of the settings' descriptions."""

CHINESE: dict[str, str] = {
    "usage: ": "用法： ",
    "the app, in this folder": "在此文件夹中打开应用",
    "one turn, no screen": "一轮对话，不用屏幕",
    "one of those below": "下列命令之一",
    "A window system for LLM agents: you and the model share live windows.": (
        "面向 LLM 智能体的窗口系统：你和模型共用实时窗口。"
    ),
    "commands (contextui COMMAND --help tells more):": (
        "命令（contextui COMMAND --help 有更多说明）："
    ),
    "examples:": "示例：",
    'contextui -p "Make a to-do list with milk and eggs"': (
        'contextui -p "建一个待办清单：牛奶和鸡蛋"'
    ),
    'contextui -c -p "Mark milk as done"': 'contextui -c -p "把牛奶标记为完成"',
    "{summary}.": "{summary}。",
    " ({default})": "（{default}）",
    "; may be repeated": "；可重复",
    # groups
    "asking": "提问",
    "going on": "继续",
    "the model": "模型",
    "windows and context": "窗口与上下文",
    "more": "其他",
    "positional arguments": "参数",
    "options": "选项",
    # flags
    "what the app is told first": "打开应用时先说的话",
    "take one turn without a screen; - reads stdin": "不用屏幕，进行一轮；- 表示读标准输入",
    "with -p: the answer's words, one object, or one object for each event": (
        "与 -p 同用：回答的文字、一个对象，或每个事件一个对象"
    ),
    "with -p: tell of tool calls on stderr": "与 -p 同用：在标准错误上说明工具调用",
    "go on with the newest session of this folder": "继续此文件夹最新的会话",
    "go on with this session; its first letters will do": "继续这个会话；给出开头几个字母即可",
    "with -c or -r: go on in a copy of the session": "与 -c 或 -r 同用：在会话的副本中继续",
    "say what there is": "显示帮助",
    "say which version this is": "显示版本",
    "list them as JSON": "以 JSON 列出",
    "by default the newest of this folder": "默认是此文件夹最新的会话",
    "show the exact request that would be sent next": "显示接下来将发送的确切请求",
    "show it as it was when turn N had ended": "显示第 N 轮结束时的样子",
    "show items, windows and figures as JSON": "以 JSON 显示条目、窗口和数字",
    "show what would go and what would stay": "显示哪些会移出、哪些会保留",
    "do it in a copy of the session, and leave it as it is": "在会话的副本中进行，原会话不变",
    "tell what came of it, or would go, as JSON": "以 JSON 说明结果，或将移出的内容",
    "those of all folders": "所有文件夹的会话",
    "small letters, digits, - and _": "小写字母、数字、- 和 _",
    "listen there, and not on this machine alone; read the warning": (
        "在那里监听，而不只是本机；请阅读警告"
    ),
    "by default any that is free": "默认是任意空闲端口",
    "trust them without asking": "不询问直接信任",
    "trust this folder no longer": "不再信任此文件夹",
    "show what there is as JSON, and trust nothing": "以 JSON 显示内容，不信任任何文件",
    "bash, zsh or fish": "bash、zsh 或 fish",
    # commands
    "show what the model sees of a session and what it costs": "显示模型看到的会话内容及其开销",
    "have a summary stand for the older part of a session": "用总结代替会话中较早的部分",
    "list the sessions of this folder": "列出此文件夹的会话",
    "list the windows there are": "列出所有窗口",
    "list the settings and where each comes from": "列出设置及其来源",
    "write a working window and its test into this folder": "在此文件夹写入一个可用的窗口及其测试",
    "open the app in a browser, on this machine alone": "在浏览器中打开应用，仅限本机",
    "let the windows in this folder's .contextui/windows run": (
        "允许此文件夹 .contextui/windows 中的窗口运行"
    ),
    "print what makes your shell complete all this": "输出 shell 补全脚本",
    # settings
    "who answers; auto is anthropic if there is a key or a base URL, else offline": (
        "由谁回答；auto：有密钥或 base URL 时为 anthropic，否则为 offline"
    ),
    "the model to ask; offline is the embedded one": "要询问的模型；offline 是内置模型",
    "where the model is served; any server that speaks Anthropic's API": (
        "模型服务的地址；任何支持 Anthropic API 的服务器"
    ),
    "tokens that a request may have": "一个请求最多的 token 数",
    "tokens that an answer may have": "一个回答最多的 token 数",
    "requests that a turn may take before it pauses": "一轮在暂停前最多的请求数",
    "calls of one answer that are carried out; more are refused": (
        "一个回答中最多执行的调用数；多出的会被拒绝"
    ),
    "windows that may be open at a time": "同时打开的窗口数上限",
    "seconds without progress after which an answer is given up": ("回答没有进展多少秒后放弃"),
    "seconds that one answer may take in all": "一个回答总共最多用时的秒数",
    "seconds that a window may freeze the program before it is ended": (
        "窗口使程序冻结多少秒后程序被结束"
    ),
    "how the model calls tools: by the API, or in its text": (
        "模型如何调用工具：通过 API，或写在文字里"
    ),
    "what the model reads of a long talk": "长对话中模型读到什么",
    "where live windows stand: at the end, or where they were opened": (
        "实时窗口的位置：在末尾，或在打开之处"
    ),
    "what may write outside of windows: what you allow, all, or nothing": (
        "窗口之外的写入：经你允许、全部允许，或全部拒绝"
    ),
    "a file of windows, FILE.py or FILE.py:Class": "窗口文件，FILE.py 或 FILE.py:Class",
    "a folder of such files": "这类文件的文件夹",
    "how much of themselves windows show when they open": "窗口打开时显示多少内容",
    "whether older messages become a summary when room gets short": (
        "空间不足时是否把较早的消息变成总结"
    ),
    "the share of the budget at which room counts as short": "占预算多大比例时算作空间不足",
    "more files that ask before the model reads them, beside .env, *.pem …": (
        "模型读取前须询问的其他文件，除 .env、*.pem 等之外"
    ),
    "the language; by default that of the locale": "语言；默认取自系统区域设置",
}
