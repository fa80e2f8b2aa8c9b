// The model's answers: a script for each message, made only from the seed and the message's id. A
// repeated request therefore gets the same answer. A request shows its position in the script by
// the number of answers after the last user message.

import { createRandom, type Random } from '../simulation/random.ts'
import { contentMark } from './content-mark.ts'

/** `input`: the raw argument text that is streamed. */
export type Block =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string }
  | { type: 'tool_use'; id: string; name: string; input: string }

/** The failures of a request before its answer, in the order of its attempts. */
export type Trouble = 'overloaded' | 'hangup' | 'cut' | 'refused'

export type Round = { blocks: Block[]; troubles: Trouble[] }

export type ModelRequest = {
  system?: string | { text: string }[]
  messages: { role: string; content: { type: string; text?: string }[] }[]
  tool_choice?: { type: string }
}

export type Answer = {
  conversation: string
  messageId: string
  round: number
  blocks: Block[]
  troubles: Trouble[]
}

/** The text of a user's message, from which the model finds the script. */
export function messageText({
  conversation,
  messageId,
}: {
  conversation: string
  messageId: string
}): string {
  return `This is message ${messageId} of ${conversation}. Do what the ${contentMark} says.`
}

/** Undefined: the request does not belong to this run. */
export function answerTo(
  seed: string,
  { messages, system, tool_choice }: ModelRequest,
): Answer | undefined {
  const question = messages.findLastIndex(
    ({ role, content }) =>
      role === 'user' && content.some(({ text }) => text !== undefined && shape.test(text)),
  )
  const text = messages[question]?.content.findLast(
    ({ text }) => text !== undefined && shape.test(text),
  )?.text
  const [, messageId, conversation] = shape.exec(text ?? '') ?? []
  if (messageId === undefined || conversation === undefined) return undefined
  const rounds = scriptOf(seed, { conversation, messageId })
  const answersGiven = messages.slice(question).filter(({ role }) => role === 'assistant').length
  // An empty answer leaves no entry. The reminder at the top of the next request proves it.
  const isReminded = Array.isArray(system) && system.length > 1
  const current = rounds[answersGiven]
  const next =
    current !== undefined && isEmpty(current) && isReminded ? rounds[answersGiven + 1] : current
  const last = { blocks: [sentence(messageId)], troubles: [] }
  const { blocks, troubles } = tool_choice?.type === 'none' ? last : (next ?? last)
  return { conversation, messageId, round: answersGiven, blocks, troubles }
}

const shape = /^This is message (\S+) of (\S+)\. /

function sentence(messageId: string): Block {
  return {
    type: 'text',
    text: `That was ${messageId} of the ${contentMark}: all that was asked for is done, or I have said why it is not.`,
  }
}

function isEmpty({ blocks }: Round): boolean {
  return blocks.every(({ type }) => type === 'thinking')
}

export function scriptOf(
  seed: string,
  { conversation, messageId }: { conversation: string; messageId: string },
): Round[] {
  const random = createRandom(`${seed}/script/${conversation}/${messageId}`)
  const rounds: Round[] = []
  for (let round = 0; round < random.between(0, 4); round++)
    rounds.push(...roundsOf(random, `${messageId}.${round}`))
  return [...rounds, { blocks: [sentence(messageId)], troubles: troublesOf(random) }]
}

function roundsOf(random: Random, name: string): Round[] {
  const kind = random.weighted([
    [60, 'calls'],
    [12, 'bad arguments'],
    [4, 'unknown tool'],
    [8, 'stubborn'],
    [8, 'empty'],
    [8, 'repeated'],
  ] as const)
  const round = (...blocks: Block[]): Round => ({ blocks, troubles: troublesOf(random) })
  switch (kind) {
    case 'calls':
      return [
        round(
          ...thoughts(random),
          ...times(random.between(1, 3)).map((i) => callOf(random, `${name}.${i}`)),
        ),
      ]
    case 'bad arguments': // one that cannot run next to one that can
      return [
        round(
          toolUse('pay', random.pick(['{}', '{"n":7}', '{"n":"half', '{"n":null}']), name),
          callOf(random, `${name}.1`),
        ),
      ]
    case 'unknown tool':
      return [round(toolUse('launch_rocket', '{"n":"1"}', name))]
    case 'stubborn': {
      const input = JSON.stringify({ n: markOf(name), fail: true })
      return times(random.between(2, 5)).map((i) => round(toolUse('flaky', input, `${name}.${i}`)))
    }
    case 'empty':
      return [
        random.chance(0.5)
          ? round()
          : round({
              type: 'thinking',
              thinking: `I do not know what to say to the ${contentMark}.`,
            }),
      ]
    case 'repeated': {
      const input = JSON.stringify({ n: markOf(name) })
      return times(random.between(2, 3)).map((i) => round(toolUse('look', input, `${name}.${i}`)))
    }
  }
}

/** From 0 on. */
function times(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i)
}

function thoughts(random: Random): Block[] {
  const text: Block[] = random.chance(0.5)
    ? [{ type: 'text', text: `Let me do that for the ${contentMark}, one thing after the other.` }]
    : []
  return random.chance(0.2)
    ? [{ type: 'thinking', thinking: `Which of them first, ${contentMark}?` }, ...text]
    : text
}

/**
 * Most calls are quick, some run for seconds, a few longer than their tool may. Some carry a value
 * that a guard or two reject (guards/risk.ts), or that needs a person (approvers.ts).
 */
function callOf(random: Random, name: string): Block {
  const tool = random.pick(['pay', 'note', 'charge', 'look', 'index', 'find', 'flaky'] as const)
  const once = random.fork(`once ${name}`)
  if (once.chance(0.25)) return onceCallOf(once, name)
  const sleepMs = random.weighted([
    [55, 0],
    [28, random.between(20, 500)],
    [14, random.between(1_000, 5_000)],
    [3, 15_000],
  ])
  const fail = tool === 'flaky' ? random.chance(0.5) : random.chance(0.05)
  const risk = random.weighted([
    [70, undefined],
    [8, 'ledger'],
    [6, 'lookout'],
    [6, 'ledger lookout'],
    [8, 'person'],
    [2, 'ledger person'],
  ] as const)
  return toolUse(
    tool,
    JSON.stringify({ n: markOf(name), sleepMs, ...(fail ? { fail: true } : {}), risk }),
    name,
  )
}

/** Of a tool that must not run twice: few values, and some calls fail. */
function onceCallOf(random: Random, name: string): Block {
  const tool = random.pick(['order', 'transfer'] as const)
  const n = markOf(tool === 'order' ? `o${random.below(3)}` : `t${random.below(40)}`)
  const fail = random.chance(0.3)
  const sleepMs = random.pick([0, 100, 1_500])
  return toolUse(tool, JSON.stringify({ n, sleepMs, ...(fail ? { fail } : {}) }), name)
}

function markOf(name: string): string {
  return `${contentMark} ${name}`
}

function toolUse(name: string, input: string, id: string): Block {
  return { type: 'tool_use', id: `toolu_${id.replaceAll(/[^a-zA-Z0-9_-]/g, '_')}`, name, input }
}

function troublesOf(random: Random): Trouble[] {
  const count = random.weighted([
    [90, 0],
    [8, 1],
    [2, 2],
  ])
  return Array.from({ length: count }, () =>
    random.pick(['overloaded', 'hangup', 'cut', 'overloaded', 'cut', 'refused'] as const),
  )
}
