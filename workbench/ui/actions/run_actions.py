"""What can be done with the shown run: from the Run menu, the Runs list and the command palette alike."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, QTimer, QUrl, Signal
from PySide6.QtGui import QAction, QDesktopServices, QUndoStack
from PySide6.QtWidgets import QMenu, QWidget

from workbench.names import visible_name
from workbench.problem import Problem
from workbench.running.devices.together import parse_devices
from workbench.ui.actions.checkpoint_actions import CheckpointActions
from workbench.ui.actions.colour_menu import colour_menu
from workbench.ui.actions.exchange.exchange_actions import ExchangeActions
from workbench.ui.actions.run_config import offer_settings, offer_start
from workbench.ui.actions.ticked_actions import TickedActions
from workbench.ui.actions.trash_actions import TrashActions
from workbench.ui.places.actions import PlaceActions
from workbench.ui.state.commands import Commands
from workbench.ui.state.concern import EVERYWHERE, Concern
from workbench.ui.state.runs.run_jobs import DEVICES, OWN_PROCESS
from workbench.ui.state.session import Session
from workbench.ui.state.undo import Reversible, forget_runs, push
from workbench.ui.style.words import PAUSE, QUEUE_AGAIN, RESUME, STOP, can_pause, can_stop, counted
from workbench.ui.sweeps.actions import SweepActions
from workbench.ui.widgets.dialogs.text_question import ask_line, ask_lines

RESUME_IT = f"{RESUME} from its checkpoint"
LONGEST_NAME = 200  # letters


class RunActions(QObject):
    """Actions on the shown run. `of_list` are those of the Runs list, `of_menu` those of the Run menu."""

    rename_asked = Signal(int)  # run: its row in the list becomes a field

    def __init__(self, session: Session, commands: Commands, window: QWidget) -> None:
        super().__init__(window)
        self.undo_stack = QUndoStack(self)
        self._session, self._window = session, window
        add = commands.add
        self.pause = add("run.pause", PAUSE, self._pause, "Ctrl+Shift+Space", "pause")
        self.stop = add("run.stop", STOP, self._stop, "", "stop")
        self.end = add("run.cancel", "End the run now…", self._end, "", "x-circle")
        self.resume = add("run.resume", RESUME_IT, self._resume, "", "play")
        self.duplicate = add("run.duplicate", "Duplicate with changes", self._duplicate, "Ctrl+D", "copy")
        self.train_on = add("run.train-on", "Start a run with its weights", self._train_on, "", "fast-forward")
        self.train_on.setToolTip("Its settings, starting from its trained weights: for other data, or another loss")
        self.compare = add("run.compare", "Compare", self._compare, "", "scales")
        self.tick_all = add("run.tick-all", "Tick all runs shown", None, "", "check")
        self.untick_all = add("run.untick-all", "Untick all runs", partial(session.ticks.choose, ()))
        self.rename = add("run.rename", "Rename", self._rename, "F2", "pencil-simple")
        self.tags = add("run.tags", "Tags…", self._tags, "", "tag")
        self.note = add("run.note", "Note…", self._note, "", "note")
        self.colour = add("run.colour", "Colour")
        self.colour.setMenu(colour_menu(window, self._paint))
        self.folder = add("run.folder", "Show its folder", self._folder, "", "folder-open")
        self.exchange = ExchangeActions(session, commands, window)
        self.places = PlaceActions(session, commands, window)
        self.sweeps = SweepActions(session, commands, window)
        self.trash = TrashActions(session, commands, window, self.undo_stack, self._refused)
        self.checkpoints = CheckpointActions(session, commands, window)
        self.ticked = TickedActions(session, commands, window)
        self.apart = add("run.apart", "Train in a separate process", None, checkable=True)
        self.apart.setToolTip(
            "For runs that start from now on: a crash of torch or CUDA then ends only the run, not the window. "
            "A process with torch loaded waits for the next run."
        )
        self.apart.setChecked(session.preferences.flag(OWN_PROCESS))
        self.apart.toggled.connect(self._train_apart)
        self.devices = add("run.devices", "GPUs for the queue…", self._choose_devices)
        self.devices.setToolTip("Queued runs then train at the same time, one on each of these devices.")
        # Two menus of their own: else the menus of the list and of the window are longer than a small screen.
        self.of_ticked = self._submenu(
            "Ticked runs", self.ticked.again.action, self.exchange.test_ticked, self.ticked.tags, self.ticked.colour,
            self.ticked.queue_again, self.ticked.end, self.checkpoints.delete_ticked, self.trash.move_ticked,
        )  # fmt: skip
        self.of_trash = self._submenu(
            "Trash", self.trash.restore, self.trash.delete, self.trash.show, self.trash.restore_all, self.trash.empty
        )
        self.of_menu = [
            self.pause, self.stop, self.end, self.resume, _line(self), self.apart, self.devices, self.sweeps.show,
        ]  # fmt: skip
        self.of_list = [
            self.compare, self.tick_all, self.untick_all, _line(self),
            self.rename, self.tags, self.note, self.colour, _line(self),
            self.duplicate, self.train_on, self.resume, self.exchange.test, self.folder, self.places.fetch,
            self.exchange.export, self.checkpoints.delete, self.checkpoints.bring_back, _line(self),
            self.of_ticked, self.trash.move, self.of_trash,
        ]  # fmt: skip
        session.run_changed.connect(self.refresh)
        session.runs_changed.connect(self.refresh)
        session.workspace_changed.connect(self.refresh)
        session.workspace_changed.connect(self.undo_stack.clear)
        session.runs_changed.connect(self._forget_deleted)
        self.undo_stack.indexChanged.connect(self._forget_deleted)
        session.done.connect(self._remember)
        session.ticks.chosen.connect(self._remember_ticked)
        session.ticks.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Enable what can be done now."""
        run = self._session.run()
        control = self._session.control(run.id) if run else None
        working, there = control is not None, run is not None
        in_trash = there and run is not None and run.trashed is not None
        self.pause.setEnabled(run is not None and can_pause(run, control))
        self.pause.setText(RESUME if control is not None and control.paused else PAUSE)
        self.stop.setEnabled(run is not None and can_stop(run, control))
        self.end.setEnabled(working)
        resumes = run is not None and self._session.resumes(run.id)
        self.resume.setEnabled(self._session.can_resume() and not in_trash and not resumes)
        self.resume.setText(QUEUE_AGAIN if run is not None and run.never_began else RESUME_IT)
        self.places.refresh()
        ticked = bool(self._session.ticks.runs)
        self.compare.setEnabled(there or ticked)
        self.untick_all.setEnabled(ticked)
        self.of_ticked.setVisible(ticked)
        ones = (self.rename, self.tags, self.note, self.colour, self.duplicate, self.train_on, self.folder)
        for action in (*ones, self.exchange.test, self.exchange.export):
            action.setEnabled(there)
        self.trash.refresh()
        self.checkpoints.refresh()
        self.ticked.refresh()
        self.exchange.refresh()

    def _submenu(self, title: str, *actions: QAction) -> QAction:
        action, menu = QAction(title, self), QMenu(self._window)
        menu.setToolTipsVisible(True)
        menu.addActions(actions)
        action.setMenu(menu)
        return action

    def _pause(self) -> None:
        self._session.pause_shown(self.pause.text() == PAUSE)  # as it says, whatever the run does meanwhile

    def _stop(self) -> None:
        self._session.stop_shown()

    def _end(self) -> None:
        if self._session.run_id is not None:
            self._session.end_asked.emit(self._session.run_id)

    def _resume(self) -> None:
        run = self._session.run()
        if run is not None:
            self._session.resume_run(run.id)

    def _duplicate(self) -> None:
        run = self._session.run()
        if run is not None:
            self._try(offer_settings, self._session, run, ", changed")

    def _train_on(self) -> None:
        run = self._session.run()
        if run is not None:
            self._try(offer_start, self._session, run)

    def _compare(self) -> None:
        """Show the comparison of the ticked runs; without any the shown run and those of its config are ticked."""
        session, run_id = self._session, self._session.run_id
        session.show_page("compare")
        if session.ticks.runs or run_id is None:
            return
        runs, known = session.runs(), session.catalog

        def same_config() -> list[int]:
            from workbench.comparing.grouping.groups import group_of  # late: the window is shown first

            return [run.id for run in group_of(run_id, runs, known)]

        def take(group: list[int]) -> None:
            if not session.ticks.runs:  # else the person has ticked some meanwhile
                session.ticks.choose(group)

        session.read(same_config, take)

    def _rename(self) -> None:
        if self._session.run_id is not None:
            self.rename_asked.emit(self._session.run_id)

    def give_name(self, run_id: int, name: str) -> None:
        """Rename a run; it can be undone."""
        run, name = self._session.run(run_id), name[:LONGEST_NAME]
        shown = "" if run is None else run.name
        rename = partial(self._session.workspace.rename, run_id, name)
        self._session.change(rename, partial(self._renamed, run_id, shown, name))

    def _renamed(self, run_id: int, shown: str, name: str, had: str) -> None:
        again, back = (partial(self._rename_from, run_id, *words) for words in ((had, name), (name, had)))
        had = visible_name(had)
        self._remember(Reversible(f"rename of “{had}”", again, back, self._refused, (run_id,)))
        if had not in (shown, name):
            by = "by another window or a command"
            self._session.notify(f"The run was renamed “{had}” meanwhile {by}. Now it is “{name}”.")

    def _rename_from(self, run_id: int, before: str, name: str, refused: Callable[[Problem], None]) -> None:
        self._session.change(partial(self._session.workspace.rename, run_id, name, before), failed=refused)

    def _remember(self, step: Reversible) -> None:
        push(self.undo_stack, step)

    def _refused(self, problem: Problem) -> None:
        self._session.notify(problem, EVERYWHERE)
        QTimer.singleShot(0, self, self._forget_deleted)  # the stack may be undoing the step

    def _forget_deleted(self) -> None:
        forget_runs(self.undo_stack, lambda run_id: self._session.run(run_id) is not None)

    def _remember_ticked(self, before: frozenset[int], after: frozenset[int]) -> None:
        count = len(before ^ after)
        text = f"{'tick' if len(after) > len(before) else 'untick'} of {counted(count, 'run')}"
        again, back = partial(self._tick_again, after), partial(self._tick_again, before)
        self._remember(Reversible(text, again, back, self._refused))

    def _tick_again(self, runs: frozenset[int], refused: Callable[[Problem], None]) -> None:
        ticks = self._session.ticks
        before, there = ticks.runs, {run.id for run in self._session.runs()}
        ticks.put(runs & there)
        if ticks.runs == before != runs:
            refused(Problem(f"No longer in the list: {counted(len(runs - there), 'run')}."))

    def _tags(self) -> None:
        run = self._session.run()
        if run is None:
            return
        workspace = self._session.workspace
        words = f"Tags of run {run.id}, separated by commas"
        text = ask_line(self._window, "Tags", words, text=", ".join(run.tags), adds=True)
        if text is not None and self._session.workspace is workspace:  # else another run may have its number
            self._change(workspace.set_tags, run.id, text.split(","), run.tags)

    def _note(self) -> None:
        run = self._session.run()
        if run is None:
            return
        workspace = self._session.workspace
        text = ask_lines(self._window, "Note", f"Note on run {run.id}", text=run.note)
        if text is not None and self._session.workspace is workspace:
            unstored = partial(self._unstored, text)
            self._session.change(partial(workspace.set_note, run.id, text, run.note), self._noted, unstored)

    def _noted(self, changed_meanwhile: bool) -> None:
        if changed_meanwhile:
            self._session.notify("The note was changed meanwhile by another window or by the run: both are kept.")

    def _unstored(self, text: str, problem: Problem) -> None:
        """Keep what was typed at hand, in the message, where it cannot be stored."""
        if text:
            kept = f"{problem.kept} The note is not stored; Copy copies it.".lstrip()
            problem = Problem(problem.what, kept=kept, todo=problem.todo)
        self._session.notify(problem, Concern(typed=text), text)

    def _choose_devices(self) -> None:
        """Ask which devices the queue may use, and start what can start now."""
        preferences = self._session.preferences
        text = ask_line(
            self._window,
            "GPUs for the queue",
            "Devices for queued runs, such as 0,1 for two GPUs",
            text=preferences.text(DEVICES),
            explanation="One run trains on each, in a separate process. Leave it empty for one run at a time, on the "
            "device of its config.",
        )
        if text is not None and self._try(self._give_devices, text.strip()):
            self._session.queue.go_on()

    def _give_devices(self, text: str) -> None:
        if text:
            parse_devices(text)
        self._session.preferences.set_text(DEVICES, text)
        self._session.keep_spare()

    def _train_apart(self, on: bool) -> None:
        self._session.preferences.set_flag(OWN_PROCESS, on)
        self._session.keep_spare()

    def _paint(self, index: int) -> None:
        run = self._session.run()
        if run is not None:
            self.ticked.paint([run], index)

    def _folder(self) -> None:
        if self._session.run_id is not None:
            self._try(self._open_folder, self._session.run_id)

    def _open_folder(self, run_id: int) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._session.workspace.folder(run_id))))

    def _change(self, change: Callable[..., object], *values: object) -> None:
        self._session.change(partial(change, *values))

    def _try(self, change: Callable[..., object], *values: object) -> bool:
        """Do it, or say why not."""
        try:
            change(*values)
        except Problem as problem:
            self._session.notify(problem)
            return False
        return True


def _line(parent: QObject) -> QAction:
    separator = QAction(parent)
    separator.setSeparator(True)
    return separator
