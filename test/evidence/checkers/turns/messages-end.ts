// Every accepted message is in the log and ends in exactly one turn-finished. This includes queued,
// cancelled, refused and repeated messages, and no other turn-finished exists. The client's answer
// matches the log. Turns of a conversation follow the order of their messages.

import {
  addressOf,
  type Checker,
  type Evidence,
  type Finding,
  type LoggedMessage,
  messageKey,
  recordsOf,
  type Sent,
  turnKey,
} from '../../evidence.ts'

const inbox = 'conversation-events'

export const messagesEnd: Checker = {
  name: 'messages-end',
  rule: 'Each accepted message ends in exactly one turn-finished, in the order of the messages.',
  needs: [],
  check(evidence) {
    return [...ends(evidence), ...orderOfTurns(evidence), ...copies(evidence)]
  },
}

/** The messages in the conversation's inbox, each once. */
export function messagesIn(evidence: Evidence): LoggedMessage<'user-message'>[] {
  return recordsOf(evidence, 'user-message').filter(({ topic }) => topic === inbox)
}

/** Each message of a client has its copy, with its bytes, under the id of its place. */
function copies({ records }: Evidence): Finding[] {
  const copied = new Map(
    records.flatMap(({ topic, id, digest }): [string, string][] =>
      topic === inbox && id !== undefined ? [[id, digest]] : [],
    ),
  )
  return records.flatMap((record) => {
    const { topic, partition, offset, digest, message, isForeign } = record
    if (topic !== 'client-messages' || message === undefined || isForeign) return []
    const copy = copied.get(`intake/${partition}/${offset}/0`)
    if (copy === digest) return []
    const problem = `a client's message has ${copy === undefined ? 'no copy' : 'a copy with another content'}`
    return [{ problem, at: addressOf(record) }]
  })
}

function ends(evidence: Evidence): Finding[] {
  const findings: Finding[] = []
  const messages = Map.groupBy(messagesIn(evidence), ({ message }) => messageKey(message))
  const finished = Map.groupBy(recordsOf(evidence, 'turn-finished'), ({ message }) =>
    messageKey(message),
  )
  const started = Map.groupBy(recordsOf(evidence, 'turn-started'), ({ message }) =>
    messageKey(message),
  )
  const sent = new Map(evidence.sent.map((message) => [messageKey(message), message]))
  for (const [key, message] of sent) {
    const report = (problem: string, at?: string) =>
      findings.push({ problem: `the message ${key} ${problem}`, at })
    const copies = messages.get(key)?.length ?? 0
    const found = finished.get(key) ?? []
    if (message.taken && copies === 0) report('was acknowledged and is not in the log')
    if (copies === 0 && !message.taken && found.length === 0) continue
    // A refused message is refused again at each repeat, because no state keeps it.
    const most = message.refusable ? copies : 1
    if (found.length < 1)
      report(
        'has no turn-finished',
        addressOf(messages.get(key)?.[0] ?? { topic: '?', partition: 0, offset: 0 }),
      )
    if (found.length > most)
      report(
        `has ${found.length} turn-finished: ${found.map(({ id }) => id)}`,
        addressOf(found[1] as LoggedMessage<'turn-finished'>),
      )
    const turns = started.get(key)?.length ?? 0
    if (turns > (message.refusable ? 0 : 1))
      report(
        `opened ${turns} turns`,
        addressOf(started.get(key)?.at(-1) as LoggedMessage<'turn-started'>),
      )
    findings.push(...endingFaults(key, message, found))
  }
  for (const [key, [record]] of finished)
    if (!sent.has(key))
      findings.push({
        problem: `turn-finished of ${key}, which nobody sent`,
        at: record && addressOf(record),
      })
  return findings
}

function endingFaults(
  key: string,
  { cancelled, refusable, blankReply = false, answer }: Sent,
  found: LoggedMessage<'turn-finished'>[],
): Finding[] {
  const findings: Finding[] = []
  for (const record of found) {
    const { outcome, reason, reply } = record.message
    const report = (problem: string) =>
      findings.push({ problem: `the message ${key} ${problem}`, at: addressOf(record) })
    if (outcome === 'cancelled' && !cancelled)
      report(`ended as cancelled (${reason}), and nobody cancelled it`)
    if (outcome !== 'failed' && refusable) report(`had to be refused, and ended as ${outcome}`)
    const isBlank = reply.trim() === '' && !blankReply
    if (reason.trim() === '' || isBlank)
      report(
        `ended as ${outcome} with the reason ${JSON.stringify(reason)} and the reply ${JSON.stringify(reply)}`,
      )
  }
  if (answer === 'unobserved') return findings
  // A message that left the queue gets one notice, and a client that missed it cannot get it again.
  if (answer === undefined)
    return cancelled || refusable || found.length === 0
      ? findings
      : [...findings, { problem: `the client of ${key} got no answer` }]
  const isKnown = found.some(
    ({ message }) => message.outcome === answer.outcome && message.reply === answer.reply,
  )
  if (!isKnown && found.length > 0)
    findings.push({
      problem: `the client of ${key} got ${JSON.stringify(answer)}, which is not in the log`,
      at: found[0] && addressOf(found[0]),
    })
  return findings
}

/** One turn at a time, each with its own end, in the order of the messages. */
function orderOfTurns(evidence: Evidence): Finding[] {
  const findings: Finding[] = []
  const cameAt = new Map<string, number>()
  for (const { message, offset } of messagesIn(evidence)) {
    const key = messageKey(message)
    cameAt.set(key, Math.min(offset, cameAt.get(key) ?? offset))
  }
  const open = new Map<string, { turn: string; cameAt: number }>()
  const last = new Map<string, number>()
  for (const record of recordsOf(evidence, 'turn-started', 'turn-finished')) {
    const { message } = record
    const { conversation } = message
    const report = (problem: string) =>
      findings.push({ problem: `conversation ${conversation}: ${problem}`, at: addressOf(record) })
    const current = open.get(conversation)
    if (message.type === 'turn-finished') {
      if (current?.turn === turnKey(message)) open.delete(conversation)
      continue
    }
    if (current !== undefined) report(`turn ${message.turn} began before ${current.turn} was over`)
    const came = cameAt.get(messageKey(message)) ?? -1
    if (came < (last.get(conversation) ?? -1))
      report(`turn ${message.turn} answers an older message than the turn before it`)
    last.set(conversation, came)
    open.set(conversation, { turn: turnKey(message), cameAt: came })
  }
  for (const [conversation, { turn }] of open)
    findings.push({ problem: `conversation ${conversation}: the turn ${turn} has no end` })
  return findings
}
