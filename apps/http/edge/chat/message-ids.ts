// The id of a message that a request brings, so that a repeated request is the same message. Clients
// repeat a request after a broken connection, and most of them send no id with it.
// The id depends on the request and the log only: any process finds the same message.
// A conversation that no request named is found for an hour after its start.
// The log does not say whose a message is. So a repeat under an id that a client chose brings
// no context: it may be the message of somebody else.
// An equal message after a later one is another message, unless that one waited for
// its turn.

import { hash } from 'node:crypto'
import type { ConversationTurn } from '../../../../client/weir.ts'
import type { SentMessage } from '../../../../shared/contract/ids.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Clock } from '../../../../shared/lib/clock.ts'
import { newest } from '../../../../shared/lib/newest.ts'
import { HttpError } from '../../http-error.ts'
import type { EdgeWeir } from '../access/own-weir.ts'
import { conversationIn, type Principal, withoutContext } from '../access/principal.ts'

/**
 * `conversation`: as the principal names it; undefined: a new one. `key`: the client's own id of the
 * message. `body`: the bytes of the request that the message depends on. `text`: the message.
 */
export type MessageRequest = {
  principal: Principal
  conversation: string | undefined
  key: string | undefined
  body: Uint8Array
  text: string
  /** The body names the message or the answer before it, so an equal one is a repeat at any time. */
  isPlaced?: boolean
}

/** `earlier`: the turn of the same message, if the log has it. `author`: the asker. */
export type FoundMessage = {
  message: SentMessage
  earlier: ConversationTurn | undefined
  author: Principal
}
type Found = Omit<FoundMessage, 'author'>

export type MessageIds = {
  /** Throws 422 for a key that had another message. */
  of(request: MessageRequest): Promise<FoundMessage>
}

/** Stretches of `limits.edgeRepeatMs` in which an unnamed conversation is searched. */
const stretches = 6

export function createMessageIds(
  weirOf: (principal: Principal) => Pick<EdgeWeir, 'conversation'>,
  clock: Clock,
): MessageIds {
  const sent = newest<SentMessage>(limits.edgeMessagesMax)
  const isOld = ({ end }: ConversationTurn): boolean =>
    end !== undefined && end.at < clock.now() - limits.edgeRepeatMs

  /** A message came after the end of the turn, so its client has the end. */
  const wentOn = ({ end }: ConversationTurn, later: readonly ConversationTurn[]): boolean =>
    end !== undefined && later.some(({ since }) => since >= end.at)

  async function withKey(request: MessageRequest, key: string): Promise<Found> {
    const { principal, text } = request
    const { conversation = `new-${digest(principal.id, key)}` } = request
    const message = { conversation: conversationIn(principal, conversation), messageId: key }
    const own = weirOf(principal).conversation(message.conversation)
    const turns = await own.turns({ limit: 64, ends: false })
    const earlier = turns.find(({ messageId }) => messageId === key)
    if (earlier === undefined || earlier.text === text) return { message, earlier }
    throw new HttpError(
      422,
      'edge.key-reused',
      'another message had this Idempotency-Key: give each message its own',
    )
  }

  async function inConversation(
    { principal, body, isPlaced = false }: MessageRequest,
    given: string,
  ): Promise<Found> {
    const conversation = conversationIn(principal, given)
    const base = `h-${digest(principal.id, conversation, body)}`
    const own = weirOf(principal).conversation(conversation)
    const find = async (ends: boolean) => {
      const turns = await own.turns({ limit: 8, ends })
      const at = turns.findIndex(({ messageId }) => messageId.startsWith(`${base}-`))
      const turn = turns[at]
      return (
        turn && { turn, isOver: isOld(turn) || (!isPlaced && wentOn(turn, turns.slice(0, at))) }
      )
    }
    // The ends cost more to read, and most messages are new.
    const same = (await find(false)) && (await find(true))
    const numbered = (number: number): SentMessage => ({
      conversation,
      messageId: `${base}-${number}`,
    })
    if (same === undefined) return { message: numbered(1), earlier: undefined }
    const number = Number(same.turn.messageId.slice(base.length + 1))
    return same.isOver
      ? { message: numbered(number + 1), earlier: undefined }
      : { message: numbered(number), earlier: same.turn }
  }

  async function unnamed({ principal, body }: MessageRequest): Promise<Found> {
    const base = digest(principal.id, body)
    const known = sent.get(base)
    const stretch = Math.floor(clock.now() / limits.edgeRepeatMs)
    const candidates = Array.from({ length: stretches }, (_, back) => ({
      conversation: conversationIn(principal, `new-${base}-${stretch - back}`),
      messageId: `h-${base}`,
    }))
    for (const message of known === undefined ? candidates : [known, ...candidates]) {
      const own = weirOf(principal).conversation(message.conversation)
      const [turn] = (await own.turns({ limit: 64 })).slice(-1)
      const isSame = turn === undefined ? message === known : !isOld(turn)
      if (isSame) return { message, earlier: turn }
    }
    const [fresh] = candidates
    if (fresh === undefined) throw new Error('there is no stretch')
    sent.set(base, fresh)
    return { message: fresh, earlier: undefined }
  }

  return {
    async of(request) {
      const { key, conversation, principal } = request
      if (key !== undefined) {
        const found = await withKey(request, key)
        const author = found.earlier === undefined ? principal : withoutContext(principal)
        return { ...found, author }
      }
      const finding =
        conversation === undefined ? unnamed(request) : inConversation(request, conversation)
      return { ...(await finding), author: principal }
    },
  }
}

function digest(...parts: (string | Uint8Array)[]): string {
  const hashes = parts.map((part) => hash('sha256', part))
  return hash('sha256', hashes.join(' ')).slice(0, 32)
}
