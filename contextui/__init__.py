"""A window system for LLM agents.

Public names are lazy: each one is imported on first use, so `from contextui import Window` never
loads Textual, a model's SDK or a tokenizer.
"""

from contextui.safe_path import is_program, remove_current_folder

if is_program():
    # This must precede all other imports: no module may be loaded from an untrusted folder.
    remove_current_folder()
    # The remaining imports take a moment; Ctrl+C should end the program during that time.
    from contextui.interrupt import exit_on_interrupt, reset_for_children

    exit_on_interrupt()
    reset_for_children()
else:
    import logging

    # Stay silent unless the application configures logging; otherwise warnings reach the screen.
    logging.getLogger(__name__).addHandler(logging.NullHandler())

from contextui.lazy import lazy_exports
from contextui.version import VERSION

TYPE_CHECKING = False  # importing it from `typing` would double the time of --version
if TYPE_CHECKING:
    from contextui.agent.approval import ApprovalGate as ApprovalGate
    from contextui.agent.bridge import ContextBridge as ContextBridge
    from contextui.agent.context_space import TurnOptions as TurnOptions
    from contextui.agent.controller import InteractionController as InteractionController
    from contextui.agent.models.anthropic import AnthropicModel as AnthropicModel
    from contextui.agent.models.offline import OfflineModel as OfflineModel
    from contextui.agent.models.openai import OpenAIModel as OpenAIModel
    from contextui.agent.models.scripted import ScriptedModel as ScriptedModel
    from contextui.agent.models.scripted import call as call
    from contextui.context.item import ContextItem as ContextItem
    from contextui.context.item import ItemType as ItemType
    from contextui.context.manager import ContextManager as ContextManager
    from contextui.context.render import ContextRenderer as ContextRenderer
    from contextui.context.render import RenderOptions as RenderOptions
    from contextui.errors import ActionError as ActionError
    from contextui.errors import ContextUIError as ContextUIError
    from contextui.files.workspace import Workspace as Workspace
    from contextui.model import Model as Model
    from contextui.session.session import Session as Session
    from contextui.session.session import SessionOptions as SessionOptions
    from contextui.session.store import SessionStore as SessionStore
    from contextui.windowing.action import Action as Action
    from contextui.windowing.action import ActionResult as ActionResult
    from contextui.windowing.action import Button as Button
    from contextui.windowing.action import Form as Form
    from contextui.windowing.action import Reference as Reference
    from contextui.windowing.action import action as action
    from contextui.windowing.finding.registry import discover as discover
    from contextui.windowing.job import Job as Job
    from contextui.windowing.manager import WindowManager as WindowManager
    from contextui.windowing.preview import Preview as Preview
    from contextui.windowing.snapshot import Body as Body
    from contextui.windowing.snapshot import Element as Element
    from contextui.windowing.snapshot import Lod as Lod
    from contextui.windowing.state import Transient as Transient
    from contextui.windowing.window import Window as Window

FORMER = TYPE_CHECKING  # exported here before: still importable, now documented at their homes
if FORMER:
    from contextui.context.compaction.service import CompactionService as CompactionService
    from contextui.context.gists.gist import gist as gist
    from contextui.context.ledger import ContextStats as ContextStats
    from contextui.context.messages import Composition as Composition
    from contextui.context.strategies.builtin import EntityExtraction as EntityExtraction
    from contextui.context.strategies.builtin import SlidingWindow as SlidingWindow
    from contextui.context.strategies.builtin import Summarization as Summarization
    from contextui.context.strategies.registry import make_strategy as make_strategy
    from contextui.context.strategies.strategy import ContextStrategy as ContextStrategy
    from contextui.context.strategies.strategy import Payload as Payload
    from contextui.context.strategies.strategy import StrategyEnv as StrategyEnv
    from contextui.context.strategies.strategy import StrategyError as StrategyError
    from contextui.context.trim import trim as trim
    from contextui.errors import AnchorConflictError as AnchorConflictError
    from contextui.errors import ContextTooLargeError as ContextTooLargeError
    from contextui.errors import VersionMismatchError as VersionMismatchError
    from contextui.events import CompactionResult as CompactionResult
    from contextui.files.textfile import TextFile as TextFile
    from contextui.model import LlmMessage as LlmMessage
    from contextui.session.code.index import CodeStoreError as CodeStoreError
    from contextui.session.code.refs import resolve_code_refs as resolve_code_refs
    from contextui.session.code.store import CodeFile as CodeFile
    from contextui.session.code.store import CodeStore as CodeStore
    from contextui.session.notes import Note as Note
    from contextui.session.notes import Notes as Notes
    from contextui.session.paths import escape_project_path as escape_project_path
    from contextui.tokens import TokenCounter as TokenCounter
    from contextui.windowing.finding.registry import Registry as Registry
    from contextui.windowing.snapshot import Anchor as Anchor
    from contextui.windowing.snapshot import AnchorType as AnchorType
    from contextui.windowing.snapshot import ContextVersion as ContextVersion
    from contextui.windowing.snapshot import Snapshot as Snapshot
    from contextui.windowing.snapshot import SnapshotHeader as SnapshotHeader
    from contextui.windowing.snapshot import SnapshotState as SnapshotState

__version__ = VERSION

__getattr__, __dir__ = lazy_exports(__name__)
