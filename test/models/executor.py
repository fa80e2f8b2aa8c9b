"""The executor: one call, one inbox partition, several owners (crashed, replaced, paused and woken again).
Claims to check: a call that is not idempotent starts at most once; exactly one result; 'skipped' means it never ran;
no start after the result was given; never stuck.

Inbox records: round | claim(owner, try) | outcome(owner, try, kind; goes-on: its agent began, and the owner ends in order) | tick(up to which claim the deadline has passed) | cancel.
Call: none -> ready(try, lapsed) -> claimed(try, owner, offset, cancelled, lapsed) -> done; lapsed: an earlier try's deadline passed, so it may have run. Deadlines are measured by the log's own clock:
`passed` is the offset of the newest claim whose deadline is over. `off` names a part of the corrected protocol to leave out:
  outcome      the performer writes the result downstream itself; the reducer never sees it (the page's inbox list has no outcome)
  incarnation  owner = instance name, equal after a restart     lease     owner starts without looking at the time since its claim
  log-clock    the tick's writer decides by its own clock       mark      the duplicate filter is forgotten with the conversation
  held-back    snapshots in a compacted topic instead           pause     SIGSTOP can fall between the look at the time and the start
  lapsed       a call that is ready for its second try counts as never run
  expel        (a rule more) the next owner releases the claims of the owner that the group expelled, at once
  member       with expel: an owner looks whether it is still a member, and starts nothing if not
  orphan       with expel: the tool of a crashed owner goes on; no later try and no result may come while it runs
  kept         with orphan: another process holds each tool, ends it before its claim's deadline, and keeps its result;
               the next owner reports it as the outcome of that claim, and releases no claim whose tool is held
  forged       with kept: the result is reported for the newest claim instead of its own
  still        no deadline passes, to show what another rule does alone
  returns      (a rule more) a call that was given back R times is done at the last return, so no history claims it for ever
  patient      with returns: the pause before the next claim; only a later tick allows the claim
  agent        (a rule more) the tool runs an agent, whose turn goes on when its owner ends in order; a further try joins it
  goes-on      with agent: the owner returns such a call as one that it did not start
  unreached    with agent: a cancel ends a call without an owner at once, so no owner cancels its agent
  fence        cancel kills only what is known, it is not remembered for a round that arrives after it"""
from dataclasses import dataclass, replace as _r
from explore import explore
import sys

@dataclass(frozen=True)
class Owner:
    gen: int; pos: int; end0: int; call: tuple = ('none',); marked: bool = False; cancelled: bool = False
    claims: tuple = (); started: tuple = (); freed: tuple = (); running: int = 0; armed: int = 0; ticked: int = -1; phase: str = 'run'

@dataclass(frozen=True)
class S:
    log: tuple; owners: tuple; gen: int = 1; commit: tuple = (0, False, ('none',)); passed: int = -1; starts: int = 0
    results: frozenset = frozenset(); after: bool = False; orphans: int = 0; beside: bool = False; held: tuple = (); disk: tuple = (); table: tuple = ()
    crashes: int = 0; zombies: int = 0; cancels: int = 0; dups: int = 0; drains: int = 0; child: bool = False

returns_max = 2

def never(lapsed, off): return 'unknown' if lapsed and 'lapsed' not in off else 'skipped'

def reaches(off): return 'agent' in off and 'unreached' not in off

def react(o, rec, at, idem, off):
    """The reducer: returns the owner's new view and the result it emits, if any."""
    call, kind = o.call, rec[0]
    if kind == 'round':
        if o.marked and 'mark' not in off or call != ('none',): return o, None
        if o.cancelled: return _r(o, marked=True, call=('done',)), 'skipped'
        return _r(o, marked=True, call=('ready', 1, False)), None
    if kind == 'claim' and call[:2] == ('ready', rec[2]): return _r(o, call=('claimed', rec[2], rec[1], at, False, call[2])), None
    if kind == 'outcome' and call[0] == 'claimed' and call[1:3] == (rec[2], rec[1]):
        if rec[3] in ('not-started', 'goes-on'):
            call = call[:5] + (call[5] or rec[3] == 'goes-on',)
            if call[4] and call[5] and reaches(off): return _r(o, call=call[:2] + ('nobody', at) + call[4:]), None
            if call[4]: return _r(o, call=('done',)), never(call[5], off)
            if 'returns' in off and call[1] >= returns_max: return _r(o, call=('done',)), never(call[5], off)
            return _r(o, call=('ready' if 'patient' not in off else 'pausing', call[1] + 1, call[5])), None
        return _r(o, call=('done',)), rec[3]
    if kind == 'tick' and call[0] == 'pausing': return _r(o, call=('ready',) + call[1:]), None
    if kind == 'tick' and call[0] == 'claimed' and call[3] <= rec[1]:
        if idem and call[1] < 2 and not call[4]: return _r(o, call=('ready', call[1] + 1, True)), None
        return _r(o, call=('done',)), 'unknown'
    if kind == 'lapsed' and call[0] == 'claimed' and call[1:3] == (rec[2], rec[1]):
        if idem and call[1] < 2 and not call[4]: return _r(o, call=('ready', call[1] + 1, True)), None
        return _r(o, call=('done',)), 'unknown'
    if kind == 'cancel':
        if 'fence' not in off: o = _r(o, cancelled=True)
        if call[0] in ('ready', 'pausing') and call[2] and reaches(off): return _r(o, call=('claimed', call[1], 'nobody', at, True, True)), None
        if call[0] in ('ready', 'pausing'): return _r(o, call=('done',)), never(call[2], off)
        if call[0] == 'claimed': return _r(o, call=call[:4] + (True,) + call[5:]), None
    return o, None

def steps(idem, off, K, Z, C, D, G):
    def go(s):
        def put(o, **kw): return _r(s, owners=tuple(sorted([x for x in s.owners if x.gen != o.gen] + [o], key=lambda x: x.gen)), **kw)
        def start(o, n): return put(_r(o, started=o.started + (n,), running=n, armed=0), starts=s.starts + 1, child='agent' in off, after=s.after or bool(s.results), beside=s.beside or s.orphans > 0)
        for o in s.owners:
            me = f'owner{o.gen}' + ('' if o.gen == s.gen else ' (zombie)')
            name = o.gen if 'incarnation' not in off else 'x'
            call = o.call
            if o.phase == 'run' and o.pos < len(s.log):
                rec = s.log[o.pos]
                n, result = react(_r(o, pos=o.pos + 1), rec, o.pos, idem, off)
                kw = {'results': s.results | {(o.pos, result)}, 'beside': s.beside or s.orphans > 0} if result else {}
                if 'held-back' in off: n = _r(n, phase='snap')
                yield 'do', f'{me} reads {o.pos} {rec}: call is {n.call}' + (f', result {result}' if result else ''), put(n, **kw)
            if o.phase == 'snap': yield 'do', f'{me} snapshots at {o.pos - 1}: {call}', put(_r(o, phase='commit'), table=s.table + ((o.pos - 1, call, o.marked),))
            if o.phase == 'commit':
                if o.gen == s.gen: yield 'do', f'{me} commits {o.pos}', put(_r(o, phase='run'), commit=(o.pos, o.marked, call))
                else: yield 'do', f'{me} is refused the commit, drops the partition', put(_r(o, phase='gone'))
            if o.phase == 'run' and o.pos >= o.end0:
                if call[0] == 'ready' and call[1] not in o.claims:
                    yield 'do', f'{me} writes claim', put(_r(o, claims=o.claims + (call[1],)), log=s.log + (('claim', name, call[1]),))
                if call[0] == 'claimed' and call[2] == name and call[1] not in o.started and not call[4] and not o.armed:
                    if ('lease' in off or call[3] > s.passed) and ('member' not in off or o.gen == s.gen):
                        if 'pause' in off: yield 'do', f'{me} sees that its claim is in time', put(_r(o, armed=call[1]))
                        else: yield 'do', f'{me} STARTS the tool (try {call[1]})', start(o, call[1])
                if call[0] == 'claimed' and call[2] == name and call[1] not in o.started and not o.armed and s.drains < G:
                    yield 'fault', f'{me} shuts down gracefully: not-started', put(_r(o, started=o.started + (call[1],), phase='gone'), log=s.log + (('outcome', name, call[1], 'not-started'),), drains=s.drains + 1)
                if 'agent' in off and o.running and call[0] == 'claimed' and call[2] == name and s.drains < G:
                    kind = 'not-started' if 'goes-on' in off else 'goes-on'
                    yield 'fault', f'{me} ends in order, its agent goes on: {kind}', put(_r(o, running=0, phase='gone'), log=s.log + (('outcome', name, call[1], kind),), drains=s.drains + 1)
                if reaches(off) and s.child and o.gen == s.gen and call[0] == 'claimed' and call[4] and not o.running:
                    yield 'do', f'{me} cancels the agent', put(o, child=False)
                if o.gen == s.gen and call[0] == 'claimed' and call[2] == 'nobody' and not s.child and ('nobody', call[1]) not in o.freed:
                    yield 'do', f'{me} reports that nobody has the claim', put(_r(o, freed=o.freed + (('nobody', call[1]),)), log=s.log + (('lapsed', 'nobody', call[1]),))
                if call[0] == 'pausing' and ('pause', call[1]) not in o.freed: yield 'do', f'{me} writes the tick after the pause', put(_r(o, freed=o.freed + (('pause', call[1]),)), log=s.log + (('tick', -1),))
                if call[0] == 'claimed' and o.ticked < call[3] and ('log-clock' in off or call[3] <= s.passed):
                    upto = call[3] if 'log-clock' in off else s.passed
                    yield 'do', f'{me} writes tick', put(_r(o, ticked=call[3]), log=s.log + (('tick', upto),))
                mine = [h for h in s.disk if call[0] == 'claimed' and call[2] != name and ('forged' in off or h == (call[2], call[1]))]
                if mine and ('kept', call[1]) not in o.freed:
                    yield 'do', f'{me} reports the kept result of owner{mine[0][0]}', put(_r(o, freed=o.freed + (('kept', call[1]),)), log=s.log + (('outcome', call[2], call[1], 'ok'),))
                if 'expel' in off and o.gen == s.gen and call[0] == 'claimed' and call[2] != name and call[1] not in o.freed and not ('kept' in off and (call[2], call[1]) in s.held + s.disk):
                    yield 'do', f'{me} releases the claim of owner{call[2]}', put(_r(o, freed=o.freed + (call[1],)), log=s.log + (('lapsed', call[2], call[1]),))
                if call == ('done',) and o.gen == s.gen and s.commit[0] < o.pos and 'held-back' not in off:
                    yield 'do', f'{me} commits past the round', put(_r(o, call=('none',)), commit=(o.pos, o.marked, ('none',)))
            if o.armed: yield 'do', f'{me} STARTS the tool (try {o.armed})', start(o, o.armed)
            if o.running:      # also after the partition is gone: the child goes on, its outcome is still written
                if 'outcome' in off: yield 'do', f'{me} tool ends, performer writes result ok', put(_r(o, running=0), results=s.results | {(f'performer {o.gen}', 'ok')})
                else: yield 'do', f'{me} tool ends, writes outcome', put(_r(o, running=0), child=False, log=s.log + (('outcome', name, o.running, 'ok'),))
            if s.crashes < K: yield 'fault', f'{me} CRASHES', _r(s, owners=tuple(x for x in s.owners if x.gen != o.gen), crashes=s.crashes + 1, orphans=s.orphans + (1 if o.running and 'orphan' in off else 0), held=s.held + (((name, o.running),) if o.running and 'kept' in off else ()))
        at, marked, call = s.commit
        tables = [s.table] if 'held-back' not in off else [s.table, s.table[-1:]]
        for k, table in enumerate(tables):
            new = Owner(s.gen + 1, at, len(s.log), marked=marked)
            note = ''
            if table:
                best = max(table)
                new, note = _r(new, call=best[1], marked=best[2]), f', restores {best[:2]}' + (' (compacted topic)' if k else '')
            if not any(o.gen == s.gen and o.phase != 'gone' for o in s.owners): yield 'do', f'owner{new.gen} takes over at {at}{note}', put(new, gen=new.gen)
            elif s.zombies < Z: yield 'fault', f'owner{s.gen} is paused, owner{new.gen} takes over at {at}{note}', put(new, gen=new.gen, zombies=s.zombies + 1)
        if s.orphans: yield 'do', 'the tool of a crashed owner ends', _r(s, orphans=s.orphans - 1, held=s.held[1:], disk=s.disk + s.held[:1])
        newest = max((i for i, r in enumerate(s.log) if r[0] == 'claim'), default=-1)
        if newest > s.passed and 'still' not in off and not ('kept' in off and (s.orphans or any(o.running for o in s.owners))): yield 'do', f'the deadline of the claim at {newest} passes', _r(s, passed=newest)
        if s.cancels < C: yield 'fault', 'cancel arrives', _r(s, log=s.log + (('cancel',),), cancels=1)
        if s.dups < D and ('round',) in s.log: yield 'fault', 'the round is delivered again', _r(s, log=s.log + (('round',),), dups=s.dups + 1)
        if ('round',) not in s.log: yield 'do', 'the round arrives', _r(s, log=s.log + (('round',),))
    return go

def check(title, idem=False, off=(), K=1, Z=1, C=0, D=0, G=0, late_start_ok=False):
    agent = 'agent' in off
    def broken(s):
        if s.starts > (2 if idem else 1) + (s.drains if agent else 0): return f'started {s.starts} times'
        if len(s.results) > 1: return f'two results: {sorted(map(str, s.results))}'
        if s.starts and any(r == 'skipped' for _, r in s.results): return 'told skipped, but it ran'
        if s.after and not late_start_ok: return f'started after its result was given: {sorted(map(str, s.results))}'
        if s.beside: return 'the tool of a crashed owner still ran when its call went on'
        if s.starts and ('cancel',) in s.log and s.log.index(('cancel',)) < s.log.index(('round',)): return 'cancelled before the round arrived, and a tool ran'
    def settled(s):
        """An agent may go on after the deadline of its call: its own time is shorter."""
        if not s.results: return 'stuck: no result'
        at = min((at for at, _ in s.results), default=-1)
        if s.child and ('cancel',) in s.log[:at + 1] and s.log[at][0] != 'tick': return 'cancelled, and its agent goes on'
    return explore(title, S((), (Owner(1, 0, 0),)), steps(idem, frozenset(off), K, Z, C, D, G), broken, settled)

if __name__ == '__main__':
    part = sys.argv[1] if len(sys.argv) > 1 else 'all'
    if part in ('all', 'holes'):
        check('as written: no outcome in the inbox, no fault at all', off=['outcome'], K=0, Z=0)
        check('as written: compacted snapshots + zombie', off=['held-back'], K=1, Z=1)
        check('as written: owner is an instance name', off=['incarnation'], K=1, Z=0)
        check('as written: deadline by wall clock of the tick writer', off=['log-clock'], K=0, Z=1)
        check('as written: no look at the time before the start', off=['lease'], K=0, Z=1)
        check('as written: filter forgotten with the conversation', off=['mark'], K=1, Z=0, D=1)
        check('as written: cancel not remembered for a later round', off=['fence'], K=0, Z=0, C=1)
        check('left out: second try of an idempotent tool, then cancel', idem=True, off=['lapsed'], K=0, Z=0, C=1)
        check('residue: paused between look and start', off=['pause'], K=0, Z=1)
    if part in ('all', 'returns'):
        check('returns: given back twice, no other fault', off=['returns', 'patient'], K=0, Z=0, G=2)
        check('returns: given back twice, cancel', off=['returns', 'patient'], K=0, Z=0, C=1, G=2)
    if part in ('all', 'agents'):
        check('agents: given back as never started, then a cancel', off=['agent', 'goes-on', 'returns', 'patient'], K=0, Z=0, C=1, G=1)
        check('agents: a cancel ends a call without an owner at once', off=['agent', 'unreached', 'returns', 'patient'], K=0, Z=0, C=1, G=1)
        check('agents: given back twice, cancel', off=['agent', 'returns', 'patient'], K=0, Z=0, C=1, G=2)
        check('agents: given back, a killed owner, cancel', off=['agent', 'returns', 'patient'], K=1, Z=0, C=1, G=1)
    if part in ('all', 'expel'):
        check('expel: a paused owner wakes after its claim was released', off=['expel'], K=0, Z=1)
        check('expel: paused between the look at its membership and the start', off=['expel', 'member', 'pause', 'still'], K=0, Z=1)
        check('expel: the tool of the killed owner goes on', off=['expel', 'member', 'orphan'], K=1, Z=0)
        check('expel: the same with an idempotent tool', idem=True, off=['expel', 'member', 'orphan'], K=1, Z=0)
    if part in ('all', 'kept'):
        check('kept: the result is not bound to its claim', idem=True, off=['orphan', 'kept', 'forged'], K=2, Z=0)
        check('kept: a killed owner, a zombie', off=['orphan', 'kept'], K=1, Z=1)
        check('kept: two killed owners, cancel', off=['orphan', 'kept'], K=2, Z=0, C=1)
        check('kept: idempotent tool, two killed owners', idem=True, off=['orphan', 'kept'], K=2, Z=0)
        check('kept, and the bus proves an owner dead: release what no process holds', idem=True, off=['expel', 'member', 'orphan', 'kept'], K=2, Z=0)
    if part in ('all', 'fixed'):
        check('expel, with owners and tools that end before the release', off=['expel', 'member'], K=1, Z=1)
        check('residue allowed: such a start is late, never second', off=['pause'], K=1, Z=1, late_start_ok=True)
        check('corrected, 2 crashes, 1 zombie', K=2, Z=1)
        check('corrected, 1 crash, 1 zombie, cancel', K=1, Z=1, C=1)
        check('corrected, 2 crashes, cancel, duplicate, graceful shutdown', K=2, Z=0, C=1, D=1, G=1)
        check('corrected, 1 zombie, cancel, duplicate', K=0, Z=1, C=1, D=1)
        check('corrected, idempotent tool, 2 crashes, cancel', idem=True, K=2, Z=0, C=1)
        check('corrected, idempotent tool, 1 zombie, cancel', idem=True, K=0, Z=1, C=1)
