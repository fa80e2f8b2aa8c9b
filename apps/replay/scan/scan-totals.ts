// The sums of a scan. Memory holds no text of a session but the reasons of the worst loops.

import { type Money, noMoney, sumOfMoney } from '../../../shared/view/totals.ts'
import type { JudgedSession, Loop } from './judged-session.ts'

export type ScannedLoop = Loop & { agent: string; file: string }

/** `subAgents`: sessions of agents inside another session. */
export type ScannedAgent = {
  agent: string
  sessions: number
  subAgents: number
  turns: number
  rounds: number
  calls: number
  failedCalls: number
  tokens: number
}

/**
 * `loops`: turns in which Weir would have intervened; `ended`: those that it would have ended. `worst`: by the
 * tokens after the end, then by the rounds. `failing`: tools by their failed calls. `storms`: the sessions with
 * the most sub-agents. `secrets`: values in arguments, with the first file.
 */
export type Scanned = {
  files: number
  agents: ScannedAgent[]
  loops: number
  ended: number
  roundsAfter: number
  tokensAfter: number
  moneyAfter: Money
  worst: ScannedLoop[]
  failing: { agent: string; tool: string; calls: number; failed: number }[]
  storms: Storm[]
  secrets: ScannedSecret[]
  leftOut: { what: string; files: number; first: string }[]
}

export type Storm = { agent: string; file: string; subAgents: number }

/** `kind`: a class of redaction. `values`: different ones in each session. The scan keeps no value. */
export type ScannedSecret = {
  agent: string
  kind: string
  tool: string
  values: number
  first: string
}

export type ScanTotals = {
  /** Whether a session of this name was added. */
  has(agent: string, conversation: string): boolean
  add(agent: string, file: string, session: JudgedSession): void
  leftOut(what: string, file: string): void
  scanned(): Scanned
}

const worstMax = 5
const failingMax = 5
const stormsMax = 3
const secretsMax = 20
/** A session may name any number of tools. The rest counts as one tool. */
const toolsMax = 1000
const otherTools = 'other tools'
/** Fewer children are ordinary work. */
const stormMin = 10

export function createScanTotals(): ScanTotals {
  const files = new Set<string>()
  const names = new Set<string>()
  const agents = new Map<string, ScannedAgent>()
  const tools = new Map<string, Scanned['failing'][number]>()
  /** By the agent and the session, without the sub-agent. */
  const children = new Map<string, Storm>()
  const secrets = new Map<string, ScannedSecret>()
  const left = new Map<string, Scanned['leftOut'][number]>()
  const sums = { loops: 0, ended: 0, roundsAfter: 0, tokensAfter: 0 }
  let money = noMoney()
  let worst: ScannedLoop[] = []

  return {
    has: (agent, conversation) => names.has(JSON.stringify([agent, conversation])),

    add(agent, file, { conversation, turns, rounds, calls, tokens, loops, ...found }) {
      files.add(file)
      names.add(JSON.stringify([agent, conversation]))
      const [session = '', subAgent] = conversation.split('/')
      const facts = agents.get(agent) ?? emptyAgent(agent)
      agents.set(agent, facts)
      if (subAgent === undefined) facts.sessions += 1
      else {
        facts.subAgents += 1
        const key = JSON.stringify([agent, session])
        const parent = children.get(key) ?? { agent, file, subAgents: 0 }
        parent.subAgents += 1
        children.set(key, parent)
      }
      facts.turns += turns
      facts.rounds += rounds
      facts.calls += calls
      facts.tokens += tokens
      for (const [tool, { calls, failed }] of found.tools) {
        facts.failedCalls += failed
        const named = roomFor(tools, agent, tool)
        const key = JSON.stringify([agent, named])
        const known = tools.get(key) ?? { agent, tool: named, calls: 0, failed: 0 }
        tools.set(key, { ...known, calls: known.calls + calls, failed: known.failed + failed })
      }
      for (const { kind, tool } of found.secrets) {
        const named = roomFor(secrets, agent, kind, tool)
        const key = JSON.stringify([agent, kind, named])
        const known = secrets.get(key) ?? { agent, kind, tool: named, values: 0, first: file }
        known.values += 1
        secrets.set(key, known)
      }
      money = sumOfMoney([money, ...loops.map(({ moneyAfter }) => moneyAfter)]) ?? money
      for (const loop of loops) {
        sums.loops += 1
        if (loop.ended) sums.ended += 1
        sums.roundsAfter += loop.roundsAfter
        sums.tokensAfter += loop.tokensAfter
      }
      worst = [...worst, ...loops.map((loop) => ({ ...loop, agent, file }))]
        .sort(byCost)
        .slice(0, worstMax)
    },

    leftOut(what, file) {
      const known = left.get(what) ?? { what, files: 0, first: file }
      known.files += 1
      left.set(what, known)
    },

    scanned: () => ({
      files: files.size,
      agents: [...agents.values()],
      ...sums,
      moneyAfter: money,
      worst,
      failing: [...tools.values()]
        .filter(({ failed }) => failed > 0)
        .sort((a, b) => b.failed - a.failed)
        .slice(0, failingMax),
      storms: [...children.values()]
        .filter(({ subAgents }) => subAgents >= stormMin)
        .sort((a, b) => b.subAgents - a.subAgents)
        .slice(0, stormsMax),
      secrets: [...secrets.values()].sort((a, b) => b.values - a.values).slice(0, secretsMax),
      leftOut: [...left.values()],
    }),
  }
}

/** The last name, or a common one if the map is full. */
function roomFor(sums: ReadonlyMap<string, unknown>, ...names: string[]): string {
  const isKept = sums.has(JSON.stringify(names)) || sums.size < toolsMax
  return isKept ? (names.at(-1) ?? '') : otherTools
}

function emptyAgent(agent: string): ScannedAgent {
  const none = { sessions: 0, subAgents: 0, turns: 0, rounds: 0, calls: 0 }
  return { agent, ...none, failedCalls: 0, tokens: 0 }
}

function byCost(a: ScannedLoop, b: ScannedLoop): number {
  return (
    Number(b.ended) - Number(a.ended) ||
    b.tokensAfter - a.tokensAfter ||
    b.roundsAfter - a.roundsAfter ||
    b.rounds - a.rounds
  )
}
