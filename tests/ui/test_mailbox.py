"""What threads send arrives on the window's thread, in order, and not after its receiver is gone."""

import threading

import shiboken6
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from tests.waits import HANG
from workbench.ui.state.background.mailbox import Mailbox


def send_from_a_thread(mailbox, values):
    sender = threading.Thread(target=lambda: [mailbox.send(value, value + 1) for value in values])
    sender.start()
    sender.join(HANG)
    assert not sender.is_alive()


def test_what_a_thread_sends_arrives_on_the_windows_thread_in_order(qtbot):
    taken = []
    mailbox = Mailbox(lambda *values: taken.append((values, threading.get_ident())))
    send_from_a_thread(mailbox, range(5))
    assert not taken  # the thread has not called it
    qtbot.waitUntil(lambda: len(taken) == 5)
    assert taken == [((value, value + 1), threading.get_ident()) for value in range(5)]


def test_nothing_arrives_once_the_owner_is_deleted(qtbot):
    taken, owner = [], QObject()
    mailbox = Mailbox(lambda *values: taken.append(values), owner)
    send_from_a_thread(mailbox, [1])
    shiboken6.delete(owner)
    QApplication.processEvents()
    assert not taken
