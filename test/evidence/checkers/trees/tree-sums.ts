// The sums of trees. A call that ran an agent reports the tokens of the agent's turn, each once. The end of
// a turn has the tokens of its own rounds and of these calls. The view of a tree has each round once. This
// checker uses Weir's view, which the responses in the activity check: a record with one id counts once.

import type { Usage } from '../../../../shared/contract/messages.ts'
import { addTurnToTree, beginTree, treeTimeline } from '../../../../shared/view/tree.ts'
import { addToTurn, beginTurn, type TurnView } from '../../../../shared/view/turn-view.ts'
import {
  addressOf,
  type Checker,
  type Evidence,
  type Finding,
  firstOfRound,
  recordsOf,
  turnKey,
} from '../../evidence.ts'
import { callerOf, lineOf } from './trees.ts'

export const treeSums: Checker<'childTools'> = {
  name: 'tree-sums',
  rule: 'The tokens of a tree are the sum of its model responses.',
  needs: ['childTools'],
  check: (evidence) => [...ofTurns(evidence), ...ofViews(evidence)],
}

/** Each end of a turn against its rounds, and each call that ran an agent against the end of its turn. */
function ofTurns(evidence: Evidence): Finding[] {
  const findings: Finding[] = []
  const own = new Map<string, number>()
  const ends = new Map(
    recordsOf(evidence, 'turn-finished').flatMap((end) => {
      const caller = callerOf(end.message.conversation)
      return caller === undefined ? [] : [[JSON.stringify(Object.values(caller)), end] as const]
    }),
  )
  const outcomes = recordsOf(evidence, 'round-outcome').filter(({ topic }) => topic === inbox)
  for (const record of firstOfRound(outcomes).values()) {
    const { conversation, turn, round, response, results } = record.message
    let sum = tokensOf(response.usage)
    for (const { ordinal, tokens } of results) {
      if (tokens === null) continue
      sum += tokens.inputTokens + tokens.outputTokens
      const end = ends.get(JSON.stringify([conversation, turn, round, ordinal]))
      const { inputTokens = -1, outputTokens = -1 } = end?.message.totals ?? {}
      if (inputTokens !== tokens.inputTokens || outputTokens !== tokens.outputTokens)
        findings.push({
          problem: `call ${ordinal} reports ${JSON.stringify(tokens)}, and its agent used ${inputTokens} + ${outputTokens}`,
          at: addressOf(record),
        })
    }
    const key = turnKey({ conversation, turn })
    own.set(key, (own.get(key) ?? 0) + sum)
  }
  for (const end of recordsOf(evidence, 'turn-finished')) {
    const { inputTokens, outputTokens } = end.message.totals
    const sum = own.get(turnKey(end.message)) ?? 0
    if (end.message.turn >= 0 && inputTokens + outputTokens > sum)
      findings.push({
        problem: `the turn ends with ${inputTokens} + ${outputTokens} tokens, and its rounds used ${sum}`,
        at: addressOf(end),
      })
  }
  return findings
}

const inbox = 'conversation-events'

/** The view of each tree against the responses of its conversations. */
function ofViews(evidence: Evidence): Finding[] {
  const turns = new Map<string, { conversation: string; view: TurnView }>()
  for (const { topic, message, time } of evidence.records) {
    if (topic !== 'activity' || message === undefined) continue
    if (!('turn' in message) || typeof message.turn !== 'number') continue
    const { conversation, turn } = message
    const key = turnKey({ conversation, turn })
    const known = turns.get(key) ?? { conversation, view: beginTurn(turn, time) }
    turns.set(key, known)
    addToTurn(known.view, { topic, time, message }, 'turn')
  }
  const used = new Map<string, number>()
  for (const { message } of recordsOf(evidence, 'model-answered')) {
    const root = lineOf(message.conversation).at(-1) ?? ''
    used.set(root, (used.get(root) ?? 0) + tokensOf(message.usage))
  }
  const trees = Map.groupBy(turns.values(), ({ view }) => view.tree ?? '')
  return [...trees].flatMap(([root, own]) => {
    const fold = beginTree(root, own.length)
    for (const { conversation, view } of own) addTurnToTree(fold, conversation, view)
    const { lines, sum } = treeTimeline(fold, new Map())
    const wrong = lines.filter(
      ({ conversation, depth }) => depth !== lineOf(conversation).length - 1,
    )
    const expected = used.get(root) ?? 0
    return [
      ...(sum.tokens === expected
        ? []
        : [
            {
              problem: `the tree ${root} shows ${sum.tokens} tokens, and its responses used ${expected}`,
            },
          ]),
      ...wrong.map((line) => ({
        problem: `${line.conversation} stands ${line.depth} deep in ${root}`,
      })),
    ]
  })
}

function tokensOf(usage: Usage): number {
  return Object.values(usage).reduce((sum, count) => sum + count, 0)
}
