// A tree of agents as lines with sums: each conversation below the one whose call began it, where the
// parent is known. Pure: a fold over the views of the tree's turns.
// Each conversation has one line, also where recorded parents are unknown or form a circle.
// Memory: some numbers for each conversation, up to the given number. Other turns are counted.

import type { ConversationId } from '../contract/ids.ts'
import { type Placed, parentOf } from '../contract/tree.ts'
import type { Milliseconds } from '../lib/clock.ts'
import { type Money, sumOfMoney } from './totals.ts'
import { callsDenied, callsPending } from './turn-facts.ts'
import { type Ending, endingOf, type TurnView } from './turn-view.ts'

/** `weir conversations --tree ID --json` prints it. Newer versions may add fields. */
export type TreeTimeline = {
  root: ConversationId
  /** A parent is above its children, and children are in the order of their beginnings. */
  lines: TreeLine[]
  sum: TreeSum
  /** Turns of further conversations, which neither a line nor the sum has. */
  turnsLeftOut: number
}

/** `endedAt`, `durationMs` null: a turn is open. `money` null: no request was under a budget in money. */
type TreeUse = {
  turns: number
  rounds: number
  calls: number
  /** Of these calls, such as those that a cap of the tree held back. */
  denied: number
  /** The calls of open turns that wait for a person. */
  pending: number
  tokens: number
  money: Money | null
  startedAt: Milliseconds
  endedAt: Milliseconds | null
  durationMs: Milliseconds | null
}

export type TreeLine = TreeUse & {
  conversation: ConversationId
  /** 0: the root. With an unknown parent: 1. */
  depth: number
  /** Null: it is a root, or the parent is not known. */
  parent: ConversationId | null
  isParentKnown: boolean
  agent: string | null
  /** The end of its last turn. */
  outcome: Ending['outcome'] | 'open'
  class: Ending['class']
  cap: Ending['cap']
}

/** `failed`, `stopped`: children by the end of their last turn. stopped: also cancelled, or ended by advice. */
export type TreeSum = TreeUse & {
  conversations: number
  failed: ConversationId[]
  stopped: ConversationId[]
}

type Folded = Omit<TreeUse, 'money' | 'endedAt' | 'durationMs'> & {
  placed: Placed
  agent: string | null
  lastTurn: number
  /** Of the last turn. Undefined: it is open. */
  ending: Ending | undefined
  isOpen: boolean
  lastAt: Milliseconds
}

export type TreeFold = {
  root: ConversationId
  conversationsMax: number
  conversations: Map<ConversationId, Folded>
  turnsLeftOut: number
}

export function beginTree(root: ConversationId, conversationsMax: number): TreeFold {
  return { root, conversationsMax, conversations: new Map(), turnsLeftOut: 0 }
}

/** Adds a turn of the tree, each once, in any order. Changes `tree` in place. */
export function addTurnToTree(tree: TreeFold, conversation: ConversationId, turn: TurnView): void {
  const { conversations, conversationsMax } = tree
  const startedAt = turn.startedAt ?? turn.firstAt
  let folded = conversations.get(conversation)
  if (folded === undefined) {
    if (conversations.size >= conversationsMax) {
      tree.turnsLeftOut += 1
      return
    }
    folded = beginLine(conversation, startedAt)
    conversations.set(conversation, folded)
  }
  const ending = endingOf(turn)
  folded.placed.parent ??= turn.parent ?? null
  folded.turns += 1
  folded.rounds += turn.round
  folded.calls += turn.calls
  folded.denied += callsDenied(turn.facts)
  folded.pending += ending === undefined ? callsPending(turn.facts) : 0
  folded.tokens += turn.tokens
  folded.startedAt = Math.min(folded.startedAt, startedAt)
  folded.lastAt = Math.max(folded.lastAt, ending?.at ?? turn.lastAt)
  folded.isOpen ||= ending === undefined
  if (turn.turn < folded.lastTurn) return
  folded.lastTurn = turn.turn
  folded.agent = turn.agent ?? folded.agent
  folded.ending = ending
}

function beginLine(conversation: ConversationId, startedAt: Milliseconds): Folded {
  return {
    placed: { conversation, parent: null },
    agent: null,
    turns: 0,
    rounds: 0,
    calls: 0,
    denied: 0,
    pending: 0,
    tokens: 0,
    startedAt,
    lastAt: startedAt,
    lastTurn: Number.NEGATIVE_INFINITY,
    ending: undefined,
    isOpen: false,
  }
}

/** `money`: of the conversations that have settled requests. */
export function treeTimeline(
  { root, conversations, turnsLeftOut }: TreeFold,
  money: ReadonlyMap<ConversationId, Money>,
): TreeTimeline {
  const placed = inPlaces(root, [...conversations.values()])
  const lines = placed.map(({ folded, depth }) =>
    lineOf(folded, depth, money.get(folded.placed.conversation) ?? null),
  )
  return { root, lines, sum: sumOf(root, lines), turnsLeftOut }
}

function lineOf(folded: Folded, depth: number, money: Money | null): TreeLine {
  const { placed, agent, turns, rounds, calls, denied, pending, tokens } = folded
  const { startedAt, lastAt, isOpen, ending } = folded
  const parent = parentOf(placed)
  return {
    conversation: placed.conversation,
    depth,
    parent: parent ?? null,
    isParentKnown: parent !== undefined,
    agent,
    outcome: ending?.outcome ?? 'open',
    class: ending?.class ?? null,
    cap: ending?.cap ?? null,
    turns,
    rounds,
    calls,
    denied,
    pending,
    tokens,
    money,
    ...timesOf(startedAt, isOpen ? null : lastAt),
  }
}

function timesOf(
  startedAt: Milliseconds,
  endedAt: Milliseconds | null,
): Pick<TreeUse, 'startedAt' | 'endedAt' | 'durationMs'> {
  return { startedAt, endedAt, durationMs: endedAt === null ? null : endedAt - startedAt }
}

type InPlace = { folded: Folded; depth: number }

/** Without recursion: a recorded chain of parents may be long. */
function inPlaces(root: ConversationId, all: readonly Folded[]): InPlace[] {
  const sorted = all.toSorted((a, b) => a.startedAt - b.startedAt)
  const byId = new Map(sorted.map((folded) => [folded.placed.conversation, folded]))
  const children = Map.groupBy(
    sorted.filter(({ placed }) => placed.conversation !== root),
    ({ placed }) => {
      const parent = parentOf(placed)
      return typeof parent === 'string' && byId.has(parent) ? parent : root
    },
  )
  const left = new Set(sorted)
  const found: InPlace[] = []

  function walk(first: readonly InPlace[]): void {
    const waiting = first.toReversed()
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { folded, depth } = next
      if (!left.delete(folded)) continue
      found.push(next)
      waiting.push(...below(folded.placed.conversation, depth + 1).toReversed())
    }
  }

  function below(parent: ConversationId, depth: number): InPlace[] {
    return (children.get(parent) ?? []).map((folded) => ({ folded, depth }))
  }

  const top = byId.get(root)
  walk(top === undefined ? below(root, 1) : [{ folded: top, depth: 0 }])
  for (const folded of left) walk([{ folded, depth: 1 }]) // of a circle
  return found
}

function sumOf(root: ConversationId, lines: readonly TreeLine[]): TreeSum {
  const total = (key: 'turns' | 'rounds' | 'calls' | 'denied' | 'pending' | 'tokens') =>
    lines.reduce((sum, line) => sum + line[key], 0)
  const children = lines.filter(({ conversation }) => conversation !== root)
  const ids = (some: readonly TreeLine[]) => some.map(({ conversation }) => conversation)
  const isOpen = lines.some(({ endedAt }) => endedAt === null)
  const startedAt = lines.reduce((first, line) => Math.min(first, line.startedAt), Infinity)
  const endedAt = lines.reduce((last, line) => Math.max(last, line.endedAt ?? 0), 0)
  return {
    conversations: lines.length,
    turns: total('turns'),
    rounds: total('rounds'),
    calls: total('calls'),
    denied: total('denied'),
    pending: total('pending'),
    tokens: total('tokens'),
    money: sumOfMoney(lines.flatMap(({ money }) => money ?? [])),
    ...timesOf(lines.length === 0 ? 0 : startedAt, isOpen ? null : endedAt),
    failed: ids(children.filter((line) => line.outcome === 'failed' && !isStopped(line))),
    stopped: ids(children.filter(isStopped)),
  }
}

function isStopped({ outcome, class: failureClass }: TreeLine): boolean {
  return outcome === 'cancelled' || outcome === 'ended' || failureClass === 'stopped'
}
