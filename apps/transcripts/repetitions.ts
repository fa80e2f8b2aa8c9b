// A log of requests repeats in each request what came before. Which of its entries are the
// beginning of another one, and which say the same. What a provider answered and what a client
// sends back of it are not the same bytes: thinking is left out, also out of texts, arguments are
// written anew, texts are trimmed.
// TRANSCRIPTS-REPETITIONS-1. Entries with different ids of conversations are different, whatever
//     they say. Only those of one id, or without any, are looked at.
// TRANSCRIPTS-REPETITIONS-2. Whether one goes on from another is decided by what was said: by
//     users, by the model to them, calls, and results.
// TRANSCRIPTS-REPETITIONS-3. An answer that said nothing is in no later request. It is put back
//     where it was given: a runtime that asks again and again is what a guard looks for.
// TRANSCRIPTS-REPETITIONS-4. Nothing is kept but digests and endings, so that it hardly matters how
//     large the log is.

import { createHash } from 'node:crypto'
import { withoutThinking } from '../../services/accumulator/dialects/inline-thinking.ts'
import type { Usage } from '../../shared/contract/messages.ts'
import type { Piece } from './transcript.ts'

export type Digest = string

/** What only the answer to a request says: in later requests it is not repeated. */
export type Ending = { usage: Usage | undefined; finish: string }

export type Repetitions = {
  /** Gives what stands for all that was said. */
  see(said: Said): Digest
  /**
   * When all were seen. `beginning`: another one goes on from it. `equal`: a later one says the
   * same.
   */
  fates(): ('kept' | 'beginning' | 'equal')[]
  /**
   * The pieces, and of each answer in them how it ended, where the entry is known that it was the
   * answer of.
   */
  withEndings(said: Said): Piece[]
}

/** `after`: all that was said before it, in entries of their own. */
export type Said = { id: string | undefined; after: Digest | undefined; pieces: readonly Piece[] }

export function createRepetitions(): Repetitions {
  const beginnings = new Set<Digest>()
  const wholes: Digest[] = []
  const last = new Map<Digest, number>()
  const endings = new Map<Digest, Ending>()
  const silences = new Map<Digest, Ending[]>()

  return {
    see(said) {
      let digest = beginningOf(said)
      let end = 0
      for (const step of stepsOf(said)) {
        beginnings.add(digest)
        digest = step.digest
        end = step.end
      }
      const ending = endingOf(said.pieces)
      const isModels = ['text', 'call'].includes(said.pieces[end - 1]?.kind ?? '')
      if (ending !== undefined && isModels) endings.set(digest, ending)
      if (!isModels && said.pieces.slice(end).some(({ kind }) => kind === 'response')) {
        const known = silences.get(digest) ?? []
        known.push(ending ?? { usage: undefined, finish: '' })
        silences.set(digest, known)
      }
      last.set(digest, wholes.push(digest) - 1)
      return digest
    },

    fates: () =>
      wholes.map((digest, number) =>
        beginnings.has(digest) ? 'beginning' : last.get(digest) === number ? 'kept' : 'equal',
      ),

    withEndings(said) {
      const pieces: Piece[] = []
      let from = 0
      for (const { digest, end } of stepsOf(said)) {
        pieces.push(...said.pieces.slice(from, end))
        from = end
        const ending = endings.get(digest)
        if (ending !== undefined) pieces.push({ kind: 'ended', ...ending })
        const missing = (silences.get(digest) ?? []).slice(silencesIn(said.pieces, end))
        for (const one of missing)
          pieces.push({ kind: 'response', id: undefined }, { kind: 'ended', ...one })
      }
      return [...pieces, ...said.pieces.slice(from)]
    },
  }
}

function beginningOf({ id, after }: Said): Digest {
  return after ?? digestOf('', id?.trim() ?? '')
}

/**
 * Behind each thing that was said, the digest of all up to there; `end`: the index behind its last
 * piece.
 */
function* stepsOf(said: Said): Generator<{ digest: Digest; end: number }> {
  let digest = beginningOf(said)
  for (const { words, end } of wordsIn(said.pieces)) {
    digest = digestOf(digest, words)
    yield { digest, end }
  }
}

/**
 * What was said, as it is compared; a text of the model may come in parts. `end`: the index behind
 * its last piece.
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

/** Runtimes that show people what servers leave of thinking in a text do not send it back. */
function spokenIn(text: string): string {
  return withoutThinking(text).trim()
}

/** Undefined: a text of the model, or what is not said again. */
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

/** The answers from there on that said nothing, until somebody says something. */
function silencesIn(pieces: readonly Piece[], from: number): number {
  let answers = 0
  for (const piece of pieces.slice(from)) {
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

/** Half of it is enough: nobody gains by making two that are equal. */
function digestOf(before: Digest, text: string): Digest {
  return createHash('sha256').update(before).update('\n').update(text).digest('base64').slice(0, 20)
}
