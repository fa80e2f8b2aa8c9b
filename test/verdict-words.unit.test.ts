// The words for a verdict on a call: allow, deny, ask and pending, and its ends ok, error, denied,
// timed_out, skipped and unknown. A second word for one thing hides that two places mean the same.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'

const root = join(import.meta.dirname, '..')

const places = ['apps', 'client', 'services', 'shared', 'schemas', 'docs', 'deploy', '.github']
const pages = ['README.md', 'AGENTS.md', 'SECURITY.md', 'CONTRIBUTING.md']

/** Other words for a verdict, and other words for the end of a call. */
const others = [
  /\w*(?:reject|vetoed|vetoes|approved|approves)\w*/gi,
  /\brefus\w+ (?!to )(?:\w+ )?(?:calls?|answers?|rounds?)\b/gi,
  /\b(?:calls?|answers?|rounds?) (?:\w+ )?(?:is|are|was|were) (?:\w+ )?refused\b/gi,
  /\w*refused(?:calls?|answers?|rounds?)\b/gi,
  /\bverdict\b[^\n]{0,12}'(?:pass|run|wait|refuse|veto|approve)'/g,
  /'(?:not-run|outcome[-_]unknown)'/g,
]

/** `where`: files in which the words stand. Undefined: in all. */
type Exception = { why: string; where?: RegExp; words: RegExp }

const exceptions: Exception[] = [
  {
    why: 'promises reject',
    words:
      /\breject(?:s|ed|ion)? (?:if|with|when|as|the|like|in|by|once|a text)|promise|never rejects|must not reject|\breject\b[(,) }]|\.reject\b|rejectAll|rejectStopped|status\b.{0,8}'rejected'|a rejection (?:after|would)|unread rejection|unhandled rejection|rejects? (?:either|before)|rejects,|rejects when|rejects$|rejection of `send`|`turn\.output` rejects|onrejected/i,
  },
  {
    why: 'texts for the model keep their bytes',
    where: /^shared\/model-texts/,
    words:
      /Tool call (?:rejected|vetoed)|a person rejected|vetoed by guard|was refused|has refused/,
  },
  {
    why: 'the loop-detector reads the words of other programs',
    where: /^services\/loop-detector\/(?:evidence|waiting|meaning)\//,
    words: /reject(?:ed)?|refused|approve/,
  },
  {
    why: 'vendors have their own fields',
    where:
      /^(?:apps\/http\/edge\/(?:ag-ui|ui-stream|responses)|client\/adapters|docs\/(?:build\/serve|reference\/http))/,
    words: /\bapproved?\b/,
  },
  {
    why: 'brokers, settings and TLS reject too',
    where: /^(?:shared\/bus|shared\/contract\/limits|shared\/runtime\/ticker)/,
    words: /reject/i,
  },
  {
    why: 'a reader refuses an answer that it cannot read, and a provider a request',
    where: /^(?:shared\/(?:wire|contract\/call\/part-weight)|services\/llm-gateway)/,
    words: /refus/i,
  },
  { why: 'the name of the mode `weir proxy --veto`', words: /VetoedFormat|VetoedRequest/ },
  { why: 'names of Node.js and of an SDK', words: /rejectUnauthorized|rejectContent/ },
  { why: 'a flag of wget', words: /--rejected-log/ },
  {
    why: 'the words of version 0.1',
    where: /former-words|^schemas\/|^docs\/operate\/upgrade/,
    words: /reject|approve|vetoed|outcome_unknown/i,
  },
]

describe('the words for a verdict', () => {
  it('are those of the list, but for the exceptions', () => {
    const found = files().flatMap((file) =>
      offencesIn(file, readFileSync(join(root, file), 'utf8')),
    )
    expect(found).toEqual([])
  })

  it.each([
    ['the call was rejected', 'rejected'],
    ['a refused call never runs', 'refused call'],
    ['whose answers were all refused', 'answers were all refused'],
    ["if (verdict === 'run') return", "verdict === 'run'"],
    ['a promise that rejects', undefined],
    ['the option is refused', undefined],
  ])('finds in "%s" the word %s', (text, word) => {
    const expected = word === undefined ? [] : [`x.ts:1: ${word}`]
    expect(offencesIn('x.ts', text)).toEqual(expected)
  })
})

function offencesIn(file: string, text: string): string[] {
  return text.split('\n').flatMap((line, index) => {
    const words = others.flatMap((pattern) => line.match(pattern) ?? [])
    const isExcepted = exceptions.some(
      ({ where, words }) => where?.test(file) !== false && words.test(line),
    )
    return isExcepted ? [] : words.map((word) => `${file}:${index + 1}: ${word}`)
  })
}

function files(): string[] {
  const names = execFileSync('git', ['ls-files', ...places, ...pages], {
    cwd: root,
    encoding: 'utf8',
  })
  return names
    .split('\n')
    .filter((file) => /\.(?:ts|css|md|avsc|ya?ml|json|tpl|html|py)$/.test(file))
    .filter((file) => file !== 'schemas/lock.json')
}
