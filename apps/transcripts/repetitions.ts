// Finds repetitions in a log of requests: each request repeats the messages before it. Clients send
// answers back with other bytes: without thinking, with rewritten arguments and trimmed texts.
// Entries with different conversation ids are different. Only entries with one id,
// or without any, are compared.
// The texts of users and the model, the calls and the results decide whether an
// entry continues another.
// An empty answer is missing in later requests. It is put back, because a runtime
// that repeats its request is a loop that guards look for.
// Only digests and endings are kept, so the size of the log hardly matters.

import { createHash } from 'node:crypto'
import { withoutThinking } from '../../services/accumulator/dialects/around-calls.ts'
import type { Usage } from '../../shared/contract/messages.ts'
import type { Piece } from '../../shared/transcript/transcript.ts'

export type Digest = string

/** The parts of an answer that later requests do not repeat. */
export type Ending = { usage: Usage | undefined; finish: string }

export type Repetitions = {
  /** Returns the digest of the whole conversation so far. */
  add(entry: ComparedEntry): Digest
  /**
   * Call it after the last entry. `beginning`: another entry continues it. `equal`: a later entry is
   * equal.
   */
  results(): ('kept' | 'beginning' | 'equal')[]
  /** The pieces, with the ending of each answer whose entry is known. */
  withEndings(entry: ComparedEntry): Piece[]
}

/** `after`: the digest of the entries before it. */
export type ComparedEntry = {
  id: string | undefined
  after: Digest | undefined
  pieces: readonly Piece[]
}

export function createRepetitions(): Repetitions {
  const beginnings = new Set<Digest>()
  const wholes: Digest[] = []
  const last = new Map<Digest, number>()
  const endings = new Map<Digest, Ending>()
  const silences = new Map<Digest, Ending[]>()

  return {
    add(entry) {
      let digest = beginningOf(entry)
      let end = 0
      for (const step of stepsOf(entry)) {
        beginnings.add(digest)
        digest = step.digest
        end = step.end
      }
      const ending = endingOf(entry.pieces)
      const isModels = ['text', 'call'].includes(entry.pieces[end - 1]?.kind ?? '')
      if (ending !== undefined && isModels) endings.set(digest, ending)
      if (!isModels && entry.pieces.slice(end).some(({ kind }) => kind === 'response')) {
        const known = silences.get(digest) ?? []
        known.push(ending ?? { usage: undefined, finish: '' })
        silences.set(digest, known)
      }
      last.set(digest, wholes.push(digest) - 1)
      return digest
    },

    results: () =>
      wholes.map((digest, number) => {
        if (beginnings.has(digest)) return 'beginning'
        return last.get(digest) === number ? 'kept' : 'equal'
      }),

    withEndings(entry) {
      const pieces: Piece[] = []
      let from = 0
      for (const { digest, end } of stepsOf(entry)) {
        for (; from < end; from += 1) pieces.push(entry.pieces[from] as Piece)
        const ending = endings.get(digest)
        if (ending !== undefined) pieces.push({ kind: 'ended', ...ending })
        const silent = silences.get(digest)
        const missing = silent?.slice(silencesIn(entry.pieces, end)) ?? []
        for (const one of missing)
          pieces.push({ kind: 'response', id: undefined }, { kind: 'ended', ...one })
      }
      return pieces.concat(entry.pieces.slice(from))
    },
  }
}

function beginningOf({ id, after }: ComparedEntry): Digest {
  return after ?? digestOf('', id?.trim() ?? '')
}

/** The digest of the conversation after each step. `end`: the index after its last piece. */
function* stepsOf(entry: ComparedEntry): Generator<{ digest: Digest; end: number }> {
  let digest = beginningOf(entry)
  for (const { words, end } of wordsIn(entry.pieces)) {
    digest = digestOf(digest, words)
    yield { digest, end }
  }
}

/**
 * The compared texts. A text of the model can have several pieces. `end`: the index after its last
 * piece.
 */
export function* wordsIn(pieces: readonly Piece[]): Generator<{ words: string; end: number }> {
  let text = ''
  let textEnd = 0
  for (const [at, piece] of pieces.entries()) {
    const words = wordsOf(piece)
    if (piece.kind === 'text') {
      text += piece.text
      textEnd = at + 1
    }
    if (words === undefined) continue
    if (spokenIn(text) !== '') yield { words: `text ${spokenIn(text)}`, end: textEnd }
    text = ''
    yield { words, end: at + 1 }
  }
  if (spokenIn(text) !== '') yield { words: `text ${spokenIn(text)}`, end: textEnd }
}

/** Runtimes that show thinking from a text do not send it back. */
function spokenIn(text: string): string {
  return withoutThinking(text).trim()
}

/** Undefined: a text of the model, or a piece that requests do not repeat. */
function wordsOf(piece: Piece): string | undefined {
  switch (piece.kind) {
    case 'user':
      return `user ${piece.text.trim()}`
    case 'call':
      return `call ${piece.id} ${piece.name} ${withoutSpaces(piece.arguments)}`
    case 'result':
      return `result ${piece.id} ${piece.text.trim()}`
    default:
      return undefined
  }
}

/** The number of empty answers from this index on, before the next text. */
function silencesIn(pieces: readonly Piece[], from: number): number {
  let answers = 0
  for (let at = from; at < pieces.length; at += 1) {
    const piece = pieces[at] as Piece
    if (piece.kind === 'response') answers += 1
    else if (piece.kind === 'call' || (piece.kind === 'text' && spokenIn(piece.text) !== ''))
      return Math.max(0, answers - 1)
    else if (piece.kind === 'user' || piece.kind === 'result') break
  }
  return answers
}

function withoutSpaces(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json))
  } catch {
    return json
  }
}

function endingOf(pieces: readonly Piece[]): Ending | undefined {
  const piece = pieces.at(-1)
  return piece?.kind === 'ended' ? { usage: piece.usage, finish: piece.finish } : undefined
}

/** Half a hash is enough: nobody gains from a collision. */
function digestOf(before: Digest, text: string): Digest {
  return createHash('sha256').update(before).update('\n').update(text).digest('base64').slice(0, 20)
}
