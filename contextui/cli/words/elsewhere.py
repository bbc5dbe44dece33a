"""Chinese translations of English errors and notices from other parts.

The keys are sentences with placeholders that match anything. A test checks that each of them is
still in use.
"""

CHINESE: dict[str, str] = {
    # argparse
    "Unrecognized arguments: {words}.": "无法识别的参数：{words}。",
    "The following arguments are required: {names}.": "缺少参数：{names}。",
    "Argument {name}: expected one argument.": "参数 {name}：需要一个值。",
    "Argument {name}: invalid choice: {value} (choose from {choices}).": (
        "参数 {name}：无效的值 {value}（可选：{choices}）。"
    ),
    "Argument {name}: invalid int value: {value}.": "参数 {name}：{value} 不是整数。",
    "Argument {name}: not allowed with argument {other}.": "参数 {name}：不能与 {other} 同用。",
    # settings
    "{name} is {value}: it must be {allowed}.": "{name} 是 {value}，应为：{allowed}。",
    "one of {words}": "{words} 之一",
    "a whole number from 1 to 1,000,000,000": "1 到 1,000,000,000 的整数",
    "a model's name, without spaces": "模型名称，不含空格",
    "an address such as http://localhost:11434, without a key in it": (
        "地址，例如 http://localhost:11434，其中不含密钥"
    ),
    "true or false": "true 或 false",
    "a number from 0.1 to 1": "0.1 到 1 的数字",
    "a list of paths, and none of them empty": "路径列表，且都不为空",
    "a list of patterns such as *.vault; !PATTERN takes one out": (
        "模式列表，如 *.vault；!PATTERN 表示排除"
    ),
    "a strategy's name, or a table with type, plugin, model and config": (
        "策略的名称，或含有 type、plugin、model 和 config 的表"
    ),
    "not set": "未设置",
    "a table": "一个表",
    "a strategy's name, or plugin": "策略的名称，或 plugin",
    "the name of a strategy that a package brings": "某个软件包所带策略的名称",
    "plugin, or strategy.plugin left out": "plugin，或不写 strategy.plugin",
    "{variable} is no setting. Is {near} meant?": "{variable} 不是设置。是不是 {near}？",
    "{file} asks for approval {wanted}; it stays {usual}, as a project cannot raise it. "
    "Use --approval {flag} if you want that.": (
        "{file} 要求 approval {wanted}；仍为 {usual}，因为项目不能提高它。"
        "如果需要，请用 --approval {flag}。"
    ),
    "{file}, line {line}: this is not UTF-8 text.": "{file} 第 {line} 行：不是 UTF-8 文本。",
    "{file} is not valid TOML: {why}.": "{file} 不是有效的 TOML：{why}。",
    "{file} cannot be read: {why}.": "{file} 无法读取：{why}。",
    "{file} holds {name}: a key does not belong into a file. "
    "Set the variable {variable} instead.": (
        "{file} 中有 {name}：密钥不应写在文件里。请改为设置变量 {variable}。"
    ),
    "{file} sets {name}, which a project may not: "
    "give it as a flag, or set it in your own config.toml.": (
        "{file} 设置了 {name}，项目不允许这样做：请用参数给出，或写在你自己的 config.toml 里。"
    ),
    "{file} takes {pattern} out of secret_files, which a project may not: "
    "set it in your own config.toml.": (
        "{file} 把 {pattern} 从 secret_files 中排除，项目不允许这样做："
        "请写在你自己的 config.toml 里。"
    ),
    "{file} sets {name}, which a project may not: {where}": (
        "{file} 设置了 {name}，项目不允许这样做：{where}"
    ),
    "set the variable CONTEXTUI_HOME.": "请设置变量 CONTEXTUI_HOME。",
    "{file} sets {name}, and there is no such setting.{hint}": (
        "{file} 设置了 {name}，但没有这个设置。{hint}"
    ),
    " There is: {names}.": "可用：{names}。",
    " Is {near} meant?": "是不是 {near}？",
    # sessions
    "You have no home folder. Name one with the variable CONTEXTUI_HOME.": (
        "你没有主文件夹。请用变量 CONTEXTUI_HOME 指定一个。"
    ),
    "There is no session {name}.": "没有会话 {name}。",
    "{name} cannot be the id of a session.": "{name} 不能是会话的 id。",
    "Several sessions begin with {name}: {ids}.": "有多个会话以 {name} 开头：{ids}。",
    "Session {name} cannot be read: {why}.": "会话 {name} 无法读取：{why}。",
    "Session {name} is open in another process. Use --fork to go on in a copy.": (
        "会话 {name} 已在另一个进程中打开。请用 --fork 在副本中继续。"
    ),
    "{file} holds no session. It is left as it is.": "{file} 中没有会话。它保持原样。",
    "There is no turn {turn}. How many have ended: {turns}.": (
        "没有第 {turn} 轮。已结束的轮数：{turns}。"
    ),
    "This session was written by a newer contextui "
    "(schema {schema}, known here is {known}). It is left as it is.": (
        "这个会话由更新版本的 contextui 写入（格式 {schema}，这里只认识 {known}）。它保持原样。"
    ),
    "Left out as damaged: {count}, the first at byte {place}: {why}": (
        "有损坏的行被略去（{count}），第一处在字节 {place}：{why}"
    ),
    # what exceeds the budget
    "The context needs ~{needed} tokens and the budget is {budget}. "
    "What cannot be left out: {what}.": (
        "上下文需要约 {needed} 个 token，而预算是 {budget}。不能略去的是：{what}。"
    ),
    # windows
    "{name} cannot be a window's name. Take small letters, digits, - and _, "
    "a letter first, such as shopping-list.": (
        "{name} 不能是窗口的名称。请用小写字母、数字、- 和 _，以字母开头，例如 shopping-list。"
    ),
    "There is a {path} already; it is kept.": "{path} 已经存在；保持原样。",
    "{path} cannot be written: {why}.": "{path} 无法写入：{why}。",
    "{path} cannot be used, so no folder is trusted: {why}.": (
        "{path} 无法使用，因此不信任任何文件夹：{why}。"
    ),
    "{path} is not trusted ({what}): read it, then run contextui trust": (
        "{path} 不受信任（{what}）：请先阅读，再运行 contextui trust"
    ),
    "there is no file {path}: name a Python file": "没有文件 {path}：请给出 Python 文件",
    "{path} is not a Python file: its name must end in .py": (
        "{path} 不是 Python 文件：文件名应以 .py 结尾"
    ),
    "{path} is a folder: give it with --windows": "{path} 是文件夹：请用 --windows 给出",
    "{path}: it is no folder; a file is given with --window": (
        "{path}：不是文件夹；文件请用 --window 给出"
    ),
    "{path}: there is no such folder": "{path}：没有这个文件夹",
    "{path} defines no window: write a class that extends contextui.Window": (
        "{path} 没有定义窗口：请写一个继承 contextui.Window 的类"
    ),
    "{path} has no class {name}. It has: {names}": "{path} 中没有类 {name}。其中有：{names}",
    "syntax error in {path}, line {line}: {why}": "{path} 第 {line} 行有语法错误：{why}",
    "two windows have this name: {first}, which is used, and {second}, which is not. "
    "Rename one of them": ("有两个窗口同名：使用 {first}，不使用 {second}。请给其中一个改名"),
    # strategies
    "There is no strategy {name}. There is: {names}.": "没有策略 {name}。可用的有：{names}。",
    "The strategy {name} has no setting {setting}. It has: {names}.": (
        "策略 {name} 没有设置 {setting}。它有：{names}。"
    ),
    "The strategy {name}: {setting} is {value}: it must be {wanted}.": (
        "策略 {name}：{setting} 是 {value}，应为：{wanted}。"
    ),
    "a whole number": "整数",
    "a number": "数字",
    "The strategy {name} needs the setting {setting}; "
    "in config.toml: [strategy] with config = {example}.": (
        "策略 {name} 需要设置 {setting}；在 config.toml 中写 [strategy]，其中 config = {example}。"
    ),
    # messages of the operating system
    "No such file or directory": "没有这个文件或文件夹",
    "Permission denied": "没有权限",
    "Read-only file system": "文件系统只读",
    "No space left on device": "磁盘已满",
    "standard output is closed": "标准输出已关闭",
    "it is damaged, or no session": "已损坏，或不是会话",
    "it is empty": "它是空的",
    "it is no plain file": "不是普通文件",
}
