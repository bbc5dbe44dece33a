"""What people do, in everyday words: one group of synonyms to a line, English | Chinese."""

from contextui.agent.models.offline.lexicon.listed import listed

VERBS = """
open: open, create, make, launch, set up, bring up, pull up, give me, gimme, get me, fire up, build,
    spin up, new, start, begin, prepare, pop up, want, need, would like, have | 打开 开 开启 新建
    创建 建 建立 新开 做 弄 来 启动 起 准备 开个 建个 要 想要 需要 做个 新增 新 整 整个 搞 搞个 列个
    列一个 列张 列一张 拟个 弄个 弄一个
want: want, need, would like, wish for | 要 想要 需要
add: add, append, put, drop in, include, insert, attach, place, enter, throw in, stick, register,
    pop, need, don't forget, remember, remind me, remind me to, remember to, don't forget to, do
    not forget to, reminder, sign up, throw on, chuck in, create, make, new, plus, put back, add
    back, put down | 放回 放回去 加回 加回来 加回去 再来 加 添加 增加 加上 加入 加进 放 放进 放入
    补 补上 追加 插入 写上 列入 添 添上 加个 添个 加条 提醒我 别忘了 不要忘记 记得 也要买 也得买
    需要 还要 新增 登记 录入 新建 创建 新
write: write, note, jot, jot down, write down, note down, record, log, take a note, make a note,
    take down, type, put down, remember, leave a note, memo, keep in mind | 写 写下 写上
    写个 写条 记 记下 记录 记一下 记个 记条 写入 记住 输入 记一笔 写一条 记上 备注 记下来 写下来
note: note, jot, jot down, write down, note down, take a note, make a note, take down, remember,
    leave a note, memo, keep in mind, don't forget | 记 记下 记一下 记住 记下来 记一笔 记个 记条
    备注 记上
remind: remind me, remind me to, remember to, don't forget to, do not forget to | 提醒我 别忘了
    不要忘记 记得
remove: remove, delete, drop, forget, erase, cross out, get rid of, take off, take out, take away,
    throw away, throw out, strike, strike out, strike off, discard, scrap, eliminate, scratch, axe,
    lose, leave out, trash, dump, cut, kick out, no longer need, don't need, don't want, rub out,
    forget about, has to go, have to go, must go, needs to go, can go | 撤 撤掉 撤走 撤除 拆掉 删
    删除 删掉 删去 去掉 移除 去除 拿掉 扔掉 丢掉 移走 拿走 清掉 剔除 取消 不要 不需要 不用 去除掉
    不要了 不需要了 不想要 不用了
done: done, finish, complete, tick, tick off, check off, cross off, accomplish, finished,
    completed, ticked, through with, took care of, taken care of, did, got, settle | 完成 做完 搞定
    勾 勾选 勾掉 打勾 办完 弄完 好了 完了 做好 已完成 做过 办好 弄好 打钩 划掉 划去 过了 买好 买到
    买了 做了
mark: mark, flag, set, check, tick, declare | 标记 标 标为 标成 记为 算作 设为 设成 算 算成 归到
    归为 归入
undone: undone, not done, unfinished, uncheck, untick, reopen, unmark, incomplete, not finished,
    still open, not yet done, is not done, open again, not complete, not completed, not ready |
    没干 没弄 没买 没办 未完成 没完成 没做完 取消完成 取消勾选 还没做 没做 还没完成 没有完成
    重新打开 不算完成 还没好
edit: edit, change, modify, update, rewrite, alter, correct, fix, revise, reword, rephrase, amend,
    rename, turn | 改 修改 编辑 更改 变更 更新 纠正 改写 改动 改名 重命名 改一下 更正
rename: rename, call, name, title, retitle | 重命名 改名 命名 起名 改叫 叫
replace: replace, substitute, swap, exchange, change, trade | 替换 换 换掉 代替 取代 更换 替成
move: move, shift, put, drag, relocate, bring, come, go, reorder, place, transfer, push | 迁 迁到
    移动 移 挪 搬 放 拖 转移 调 排 挪动 推 上移 下移
find: find, where does it say, search, look for, look up, locate, seek, grep, hunt for, search for,
    where, where is, where are, where does, where do | 找 查找 搜索 寻找 搜 查 找到 找出 查询 检索
    找找 搜一下 找一下 哪里
show: show, display, view, see, list, let me see, look at, present, have a look at, take a look at,
    reveal, watch | 显示 查看 看 看看 展示 列出 看一下 列一下 瞧瞧 给我看 让我看 看下 观察 列举
hide: hide, conceal, put away, don't show, do not show, stop showing | 隐藏 藏 不显示 藏起来 别显示
    不看 不要显示
expand: expand, unfold, unroll, show all of, open up, show whole, whole, in full, entirely,
    details, show more, completely, look inside, look into | 展开 全文 完整 详细
collapse: collapse, fold, fold up, shrink, roll up, fold away, show less, close up | 收起 折叠 合上
    收拢 收 收起来 缩起来 缩
save: save, store, persist, save down, write to disk | 保存 存 存储 存盘 储存 存下来 存一下
    保存一下
keep: keep, retain, preserve, hold on to, make last, persist | 保留 留 保存 留下 留着 永久保存
undo: undo, take back, revert, roll back, take that back, step back, unmake | 撤销 撤回 还原 回退
    取消
restore: restore, put back, bring back, add back, get back, undelete, recover | 恢复 放回 放回去
    加回 加回来 加回去 找回 找回来 还原
redo: redo, do again, reapply | 重做 恢复 再做
go: go, jump, goto, turn to, navigate, scroll, skip, flip, turn, move to, go to, take me to, leaf |
    跳 跳到 转到 去 翻 翻到 前往 定位 跳转 滚动 翻页 滚
enter: enter, go into, step into, go inside, descend, dive into | 进入 进 进到 走进
next: next, forward, following, onward, further | 下一 下一个 下一页 往后 往下 向下 后一
previous: previous, back, prior, backward, earlier, the one before, go back | 上一 上一个 上一页
    前一 往前 返回 回到 后退
up: up, upward, parent, go up, higher | 上级 往上 向上 上层 上一级 上一层 上级目录 上移
down: down, downward, go down | 向下 往下 下一级 下移
pause: pause, halt, stop, freeze, suspend, hold, no more, interrupt, hold on | 暂停 停 停止 停下
    停住 别再 不再 中止 中断 停一下 歇 先停
resume: resume, continue, go on, carry on, unpause, restart, keep going, proceed, again | 继续 恢复
    接着 重新开始 再开始 重启 重新启动
start: start, begin, run, launch, kick off, set off, get going | 开始 启动 开 运行 开跑 起动 开启
stop: stop, end, quit, cease, abort, cancel, halt, no longer | 停止 停 结束 终止 取消 停掉 不再
close: close, shut, dismiss, exit, close down, shut down, put away, quit, get rid of | 关 关闭 关掉
    关上 关了 退出 收掉 关起来 关一下
on: turn on, switch on, enable, activate, power on, light up, power up, light | 打开 开 开启 启用
    点亮 点燃 点着 点上 点起 打着 开灯 激活 接通
off: turn off, switch off, disable, deactivate, power off, put out, shut off, power down, kill,
    extinguish, lights out | 熄灯 灭掉 熄掉 关 关掉 关闭 停用 熄灭 关灯 熄 关上 灭 关了
toggle: toggle, switch, flip | 切换 翻转
set: set, adjust, make, change, turn, dial, configure, specify | 设 设置 设定 调 调整 调节 定 调成
    改 弄 调到 换 变 变成 变为
raise: increase, raise, turn up, bump, boost, brighten, increment, plus, up, lift, gain, crank up,
    warmer, louder, brighter, higher, faster, more, speed up, crank | 增加 提高 调高 升高 加大 调大
    增大 调亮 加 上调 提升 升 涨 调快 亮一点 高一点 大一点
lower: decrease, lower, turn down, reduce, dim, decrement, subtract, minus, drop, deduct, lessen,
    cooler, quieter, darker, slower, less, slow down, slow | 减少 降低 调低 减 减小 调小 调暗 扣
    下调 降 减去 扣掉 扣除 调慢 暗一点 低一点 小一点
clear: clear, empty, clean, wipe, purge, clear out, clean up, clear away, sweep, tidy up, clean
    out, clear off, flush | 清空 清除 清理 清掉 清 清干净 打扫 清一下
reset: reset, start over, start again, begin again, zero, restart, set back, from scratch | 重置
    归零 复位 清零 重来 重设 重新开始
refresh: refresh, reload, update, reread, read again, rescan, sync, load again, renew | 刷新
    重新加载 更新 重载 重新读取 再读 重新读
read: read, read out, read aloud | 读 阅读 读取 念 读一下 念一下 读读
send: send, post, submit, mail, email, deliver, publish, forward, ship, dispatch | 寄给 寄到 邮寄
    送到 送给 发货 发给 发到 发 发送 寄 提交 发出 发布 投 寄出
play: play, put on | 播放 玩 放 播
pick: pick, choose, select, take, go for, opt for, choice | 选 选择 挑 选中 选取 挑选 选定
draw: draw, sketch, paint, pull | 画 抽 绘制 抽取 画个
roll: roll, throw, toss, cast, fling, flip | 掷 扔 投 抛 甩 摇 丢
countdown: count down, counting down, countdown | 倒计时 倒数
count: count, tally, enumerate | 数 计数 统计 数一下 计
sort: sort, order, arrange, rank, group | 排序 整理 排列 排 排一下 分组
filter: filter, only show, show only, narrow, restrict, limit, just show, only | 筛选 过滤 只看
    只显示 限制 仅显示 只
tag: tag, label, add tag | 打上 贴上 打标签 加标签 标签 贴标签 加上标签 标注
untag: untag, unlabel, remove tag, delete tag, drop tag, take tag, strip tag, remove label, remove
    the tag, take tags, take the tag, drop the tag | 去标签 删标签 去掉标签 取消标签 移除标签
copy: copy, duplicate, clone, replicate | 复制 拷贝 克隆 抄
assign: assign, give, allocate, hand, entrust, delegate | 分配 指派 交给 给 派给 安排给 分给
award: give, award, grant, score, earn, win, get, gain, credit | 给 加分 奖励 得 得分 赢 得到 记分
spend: spend, pay, buy, purchase, cost, spent, paid, bought | 花 花费 支付 买 花了 付 付了 用了
    花掉 消费 购买
earn: earn, receive, income, deposit, pay in, get paid | 收入 赚 存入 收到 挣
withdraw: withdraw, pay out, take money | 取 取款 提取 取出 支取
ask: ask, question, query, inquire, pose | 问 提问 询问 提出
answer: answer, reply, respond | 回答 回复 答 答复
guess: guess, try, attempt | 猜 试 尝试 猜一下
vote: vote, cast a vote, ballot | 投票 投 投给
lock: lock, secure | 锁 锁上 锁定 锁住
unlock: unlock | 解锁 开锁
mute: mute, silence | 静音 消音
unmute: unmute | 取消静音
connect: connect, link, plug in, join, pair | 连接 连上 链接 接上 配对
disconnect: disconnect, unlink, unplug, detach | 断开 断开连接 拔掉
water: water, give water | 浇水 浇 灌溉
feed: feed, give food | 喂 喂食 投喂
book: book, reserve | 预订 预约 预定 订
schedule: schedule, plan, arrange, fix a date | 安排 计划 排期 规划 约
invite: invite, ask along | 邀请 请来
check: check, verify, test, examine, inspect, look into | 检查 检测 测试 核对 查验 核实
measure: measure, sample, take a sample, gauge, take a reading | 测 测量 采样 取样 采集 测一下
run: run, execute, carry out, perform | 运行 执行 跑
compute: compute, calculate, work out, figure out, evaluate | 计算 算 算一下 求
translate: translate | 翻译 译
archive: archive, file away, stash | 归档 存档 封存
pin: pin, stick to the top | 置顶 固定 钉住 钉
unpin: unpin | 取消置顶 取消固定
star: star, favorite, favourite, bookmark, like, love | 收藏 喜欢 点赞 加星
share: share | 分享 共享
print: print, print out | 打印 印
download: download, fetch | 下载
upload: upload | 上传
import: import, load, load in | 导入 载入 加载
export: export | 导出 输出
merge: merge, combine, unite, join | 合并 结合
split: split, divide, separate, break up | 拆分 分开 分割 拆
join: join, take part, sit down | 加入 参加
leave: leave, quit, get out | 离开 退出
shuffle: shuffle, mix, mix up, randomize | 洗牌 打乱 随机 混合
skip: skip, pass, jump over | 跳过 略过
repeat: repeat, loop, again | 重复 循环 再来 再来一次
rate: rate, grade, score, give stars | 评分 打分 评价 评级
snooze: snooze, postpone, delay, put off, defer | 推迟 延后 稍后 延迟 推后 延期
swap: swap, exchange, switch | 交换 对调 互换 调换
rotate: rotate, turn, spin | 旋转 转 转动 转一下
warm: warm, warm up, heat, heat up | 加热 暖 升温
cool: cool, cool down, chill | 制冷 冷却 降温
eat: eat, ate, consume, have eaten | 吃 吃了 吃掉
drink: drink, drank, sip | 喝 喝了
cook: cook, bake, prepare | 煮 做饭 烹饪 烤
sell: sell, sold | 卖 卖出 卖掉 出售
borrow: borrow | 借 借入 借了
lend: lend, lent, loan | 借出 借给
return: return, give back, bring back, put back | 归还 还 退回 退还 返回 回去 回来 回到
restock: restock, refill, replenish, fill up, top up | 补货 补充 加满 充值 进货
use: use, use up, consume, apply | 用 使用 用掉 应用 采用
learn: learn, study, memorize | 学 学习 背
practise: practise, practice, train, exercise | 练习 练 训练 锻炼
reveal: reveal, uncover, flip over, turn over, unveil | 揭晓 翻开 揭开 亮出
hint: hint, clue, tip | 提示 线索
escape: give up, surrender, resign | 放弃 认输
approve: approve, accept, allow, confirm, agree | 批准 同意 接受 确认 允许
reject: reject, decline, refuse, deny | 拒绝 驳回 否决
activate: activate, trigger, fire | 激活 触发
land: arrive, land | 到达 抵达
park: park | 停车 停放
charge: charge, recharge | 充电 收费
sign: sign in, check in, sign up, log in | 签到 登录 报名 打卡
out: sign out, check out, log out | 签退 登出 注销
zoom: zoom in, zoom out, enlarge, magnify | 放大 缩小
wait: wait | 等 等待 等一下
wake: wake, wake up | 唤醒 叫醒
notify: notify, alert, warn, tell | 通知 提醒 警告
group: group, cluster, categorize, classify | 分组 分类 归类
cancel: cancel, call off, abort | 取消 作废 撤消
unfilter: show all, show everything, no filter, all again, clear the filter, remove the filter |
    显示全部 显示所有 取消筛选 全部显示
extend: extend, prolong, lengthen, stretch | 延长 加长 拉长
comment: uncomment | 注释掉 取消注释
indent: indent, outdent | 缩进
format: format, reformat, align | 格式化 排版 对齐 加粗
capitalize: capitalize, uppercase, lowercase | 大写 小写 变大写 变小写
fill: fill, fill in, fill out, complete | 填 填写 填上 填入
summarize: summarize, summarise, sum up, recap | 总结 概括 摘要 归纳
"""

CORE = frozenset(
    listed(
        "open keep add write remove done mark undone edit rename replace move find show hide "
        "expand collapse save undo redo pause resume stop close on off toggle set raise lower "
        "clear reset refresh filter tag untag copy send start roll"
    )
)
"""Groups whose words begin a wish wherever they stand, even if no open window declares them."""

GENERIC = frozenset(
    listed(
        "@want set make put give do have let get turn go take use want need be bring keep like "
        "mark 设 弄 做 调 给 把 让 要 来 定 标记 算"
    )
)
"""Words that say little about which action is meant: the rest of the wish has to."""

KIN = frozenset(
    frozenset(pair.split("~"))
    for pair in listed(
        "add~write note~write note~add show~open show~expand find~show remove~clear set~edit "
        "edit~rename edit~replace pause~stop start~resume start~on stop~off "
        "start~open on~open off~close close~stop raise~add lower~remove go~show "
        "restore~add restore~undo restore~undone restore~return restore~resume "
        "save~keep award~add award~raise clear~reset refresh~show "
        "done~mark done~remove pick~set pick~show enter~show "
        "enter~go read~show read~open start~play on~start next~go previous~go "
        "assign~set filter~show measure~check measure~read measure~refresh earn~add "
        "withdraw~remove lower~set raise~set restock~add restock~raise "
        ""
        "count~raise tag~add untag~remove cancel~remove cancel~stop skip~next on~set off~set "
        "toggle~on toggle~off unlock~open lock~close warm~raise cool~lower vote~add vote~pick "
        "rate~set rate~award join~add "
        "finish~done stop~pause roll~start fill~write fill~set fill~add roll~add "
        "countdown~start draw~pick import~open export~save "
        "snooze~move hide~collapse hide~off show~on keep~on extend~add extend~raise "
        "undone~resume reset~start reset~undo hide~close "
        "repeat~resume resume~open assign~add "
        "reveal~show previous~up stop~end unfilter~filter "
        "unfilter~show"
    )
)
"""Groups that may stand for each other when nothing fits better."""

OPPOSITE = {
    "on": "off",
    "off": "on",
    "show": "hide",
    "hide": "show",
    "start": "stop",
    "stop": "start",
    "expand": "collapse",
    "collapse": "expand",
    "lock": "unlock",
    "unlock": "lock",
    "mute": "unmute",
    "unmute": "mute",
    "keep": "remove",
    "pause": "resume",
    "resume": "pause",
    "done": "undone",
    "undone": "done",
    "open": "close",
    "close": "open",
    "raise": "lower",
    "lower": "raise",
    "add": "remove",
    "remove": "add",
    "save": "remove",
    "undo": "redo",
    "redo": "undo",
    "next": "previous",
    "previous": "next",
    "tag": "untag",
    "untag": "tag",
    "pin": "unpin",
    "unpin": "pin",
}
"""Groups that say the contrary of each other."""

PRODUCTS = {
    "@write": "#note",
    "@remind": "#task",
    "@spend": "#expense",
    "@schedule": "#event",
    "@play": "#song",
    "@count": "#counter",
    "@cook": "#recipe",
}
"""What doing something makes: who says only the verb means a window that shows such things."""
