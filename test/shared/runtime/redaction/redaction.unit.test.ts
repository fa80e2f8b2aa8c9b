// A value that a rule finds must not survive in any spelling. Whole exports are tested in export.int.test.ts.

import { describe, expect, it } from '@jest/globals'
import type {
  HistoryEntry,
  Message,
  Part,
  PartEvent,
} from '../../../../shared/contract/messages.ts'
import { regExpPattern } from '../../../../shared/contract/redaction/value-pattern.ts'
import { createRedaction } from '../../../../shared/runtime/redaction/redaction.ts'
import type { RedactionRule } from '../../../../shared/runtime/redaction/redaction-rule.ts'
import { callWith } from '../../../support/messages.ts'

const base: RedactionRule = {
  name: 'secret',
  pattern: undefined,
  pointer: undefined,
  in: undefined,
  tool: undefined,
  replace: 'pseudonym',
}
const ofName: RedactionRule = {
  ...base,
  name: 'customer',
  pointer: ['customer', 'name'],
  tool: 'crm_*',
}
const mail: RedactionRule = { ...base, name: 'mail', pattern: regExpPattern(/[a-z]+@[a-z.]+/gu) }

/** A text as a redaction with these rules leaves it, after it has learned from these records. */
function redacted(text: string, rules: RedactionRule[], learned: Message[] = []): string {
  const redaction = createRedaction(rules)
  for (const message of [...learned, note(text)]) redaction.learn(message)
  return (redaction.redact(note(text)) as HistoryEntry).note ?? ''
}

function note(text: string): HistoryEntry {
  return {
    type: 'history-entry',
    redact: [],
    conversation: 'c',
    turn: 1,
    round: 1,
    user: null,
    response: null,
    results: [],
    contents: [],
    afterTurn: null,
    nudge: null,
    note: text,
  }
}

/** A round with one call. */
function called(raw: string, name = 'crm_get', ordinal = 0): Message {
  const given = callWith({ ordinal, id: 'a', name, raw })
  return {
    ...note(''),
    response: { text: '', reasoning: '', calls: [given] },
  } as unknown as Message
}

function part(i: number, ...events: Partial<PartEvent>[]): Part {
  return {
    type: 'part',
    conversation: 'c',
    turn: 1,
    round: 1,
    attempt: 'one',
    i,
    events: events.map((event) => ({
      kind: 'text',
      index: 0,
      id: null,
      name: null,
      text: '',
      ...event,
    })),
  }
}

const namedAda = called('{"customer":{"name":"Ada Lövelace"}}')

describe('a redaction', () => {
  it('names the rule that finds more values than fit into memory', () => {
    const [asked, anywhere] = [ofName, mail].map((rule) =>
      createRedaction([rule], { bytesMax: 2_000 }),
    )
    const learn = (n: number) => asked?.learn(called(`{"customer":{"name":"Ada ${n % 3}"}}`))
    const redact = (n: number) => anywhere?.redact(note(`${String.fromCharCode(97 + n)}@x.org`))
    for (let n = 0; n < 60; n += 1) learn(n) // equal values take no more
    expect(() =>
      Array.from({ length: 16 }, (_, n) =>
        asked?.learn(called(`{"customer":{"name":"Bob ${n}"}}`)),
      ),
    ).toThrow(/the rule customer finds/)
    expect(() => Array.from({ length: 26 }, (_, n) => redact(n))).toThrow(
      /the rule mail finds too many values to keep/,
    )
  })

  it.each([
    ['a result in the activity', { type: 'call-finished', result: 'mail to ada@x.org' }],
    ['instructions of a question', { settings: { system: 'The user is ada@x.org', policy: {} } }],
    ['a recorded context', { settings: { context: '{"user":"ada@x.org"}', policy: {} } }],
    ['the name of a file', { contents: [{ name: 'ada@x.org.pdf', mediaType: 'application/pdf' }] }],
  ])('replaces a value in %s', (_, fields) => {
    const redaction = createRedaction([mail])
    const message = { ...note(''), ...fields } as unknown as Message
    redaction.learn(message)
    expect(JSON.stringify(redaction.redact(message))).not.toContain('ada@')
  })

  it('replaces the beginning of a known value at the end of a cut result', () => {
    const cut = `${'x'.repeat(50)} Ada Löve\n[cut: this is the beginning of 99 bytes]`
    const redaction = createRedaction([ofName])
    redaction.learn(namedAda)
    const finished = { ...note(''), type: 'call-finished', result: cut } as unknown as Message
    const text = JSON.stringify(redaction.redact(finished))
    expect(text).not.toContain('Ada')
    expect(text).toContain('[cut: this is the beginning of 99 bytes]')
  })

  it.each([
    ['as a key of an object', '{"ada@x.org":{"seen":true}}'],
    ['under a key that stands there twice', '{"to":"ada@x.org","to":"nobody"}'],
    ['in JSON that was cut', '{"list":["ada@x.org","bo'],
    [
      'in JSON within JSON',
      JSON.stringify({ body: JSON.stringify({ to: JSON.stringify(['ada@x.org']) }) }),
    ],
    ['spelled with escapes', '{"to":"\\u0061da\\u0040x.org"}'],
    [
      'spelled with escapes in what is no JSON',
      'failed: {"to":"\\u0061da\\u0040x.org"} is refused',
    ],
  ])('leaves no value that a pattern finds: %s', (_, text) => {
    const left = redacted(text, [mail])
    expect(left.replaceAll(/\\u0061/g, 'a').replaceAll(/\\u0040/g, '@')).not.toContain('ada@')
    expect(left).toMatch(/mail-[0-9a-f]{12}/)
  })

  it('changes nothing in JSON but the replaced values', () => {
    expect(
      redacted('{ "n": 1.0, "big": 12345678901234567890, "to": "x@y.z" }', [
        { ...mail, replace: 'length' },
      ]),
    ).toBe('{ "n": 1.0, "big": 12345678901234567890, "to": "xxxxxxxx" }')
  })

  it('replaces a number as written, with any count of digits', () => {
    const card = { ...base, name: 'card', pointer: ['card'] }
    const raw = '{"card":4111111111111111123}'
    expect(redacted('charged 4111111111111111123', [card], [called(raw)])).toMatch(
      /^charged card-[0-9a-f]{12}$/,
    )
    expect(redacted(raw, [card], [called(raw)])).toMatch(/^\{"card":"card-[0-9a-f]{12}"\}$/)
  })

  it('replaces a match that spans several JSON strings', () => {
    const password = { ...base, name: 'password', pattern: regExpPattern(/"password":"[^"]*"/gu) }
    expect(redacted('{"a":1,"password":"hunter2 ada@x.org"}', [mail, password])).toMatch(
      /^\{"a":1,password-[0-9a-f]{12}\}$/,
    )
  })

  it('gives equal values equal replacements, in JSON and in prose, and replaces no replacement', () => {
    const [first, second] =
      redacted('{"a":"x@y.z"} x@y.z', [
        mail,
        { ...base, name: 'digits', pattern: regExpPattern(/[0-9a-f]{3,}/gu) },
      ]).match(/mail-\w+/g) ?? []
    expect(first).toMatch(/^mail-[0-9a-f]{12}$/)
    expect(second).toBe(first)
  })

  it('redacts a text that only resembles a replacement', () => {
    const order = { ...base, name: 'order', pattern: regExpPattern(/order-\d+/gu) }
    expect(redacted('order-123456789012', [order])).not.toContain('123456789012')
  })

  it.each([
    ['in prose', 'Ada Lövelace called'],
    ['cut', 'no such customer: Ada Löv… (the first 20 of 80 characters)'],
    ['in an address', 'GET /find?name=Ada%20L%C3%B6velace'],
    ['in JSON within JSON', JSON.stringify(JSON.stringify({ error: 'Ada Lövelace?' }))],
    ['in ASCII, as other languages print JSON', 'bad {"name": "Ada L\\u00f6velace"}'],
  ])('replaces a value found by a pointer in all places: %s', (_, text) => {
    const left = redacted(text, [ofName], [namedAda])
    expect(left).toMatch(/customer-[0-9a-f]{12}/)
    expect(left).not.toMatch(/Ada|velace/)
  })

  it('follows a pointer into truncated arguments, or redacts all their quoted texts', () => {
    expect(redacted('Ada Love', [ofName], [called('{"customer":{"name":"Ada Love')])).toMatch(
      /^customer-/,
    )
    expect(redacted('Ada Love', [ofName], [called('{"customer"={"name":"Ada Love"}')])).toMatch(
      /^customer-/,
    )
    expect(
      redacted('Ada Love', [ofName], [called('{"customer"={"name":"Ada Love"}', 'exec')]),
    ).toBe('Ada Love')
  })

  it('learns from a broken attempt and redacts its pieces as one text', () => {
    const redaction = createRedaction([ofName])
    const parts = [
      part(
        0,
        { kind: 'call_start', name: 'crm_get' },
        { kind: 'call_arguments', text: '{"customer":{"na' },
      ),
      part(
        1,
        { kind: 'call_arguments', text: 'me":"Ada Lov' },
        { kind: 'text', index: 1, text: 'I look for Ada L' },
      ),
    ]
    redaction.learnParts(parts)
    const said = JSON.stringify(redaction.redactParts(parts))
    expect(said).not.toMatch(/Ada/)
    expect(said).toMatch(/customer-/)
  })

  it('shows no parts that an ending carries, because a value can be split between them', () => {
    const redaction = createRedaction([mail])
    const rest = part(
      0,
      { kind: 'text', text: 'ada@exam' },
      { kind: 'text', text: 'ple.org' },
    ).events
    const end = { type: 'attempt-finished', parts: 1, rest: [rest] } as unknown as Message
    redaction.learn(end)
    expect(redaction.redact(end)).toEqual({ type: 'attempt-finished', parts: 1, rest: [] })
  })

  it('finds the tool of a result in the calls of its round', () => {
    const ofResult = (text: string): Message =>
      ({
        type: 'outcome',
        conversation: 'c',
        turn: 1,
        round: 1,
        ordinal: 0,
        try: 1,
        owner: 'o',
        result: { ordinal: 0, status: 'ok', text, reason: '', durationMs: 1 },
      }) as Message
    const result = ofResult('{"customer":{"name":"Ada"}}')
    expect(redacted('Ada', [ofName], [called('{}'), result])).toMatch(/^customer-/)
    expect(redacted('Ada', [ofName], [called('{}', 'exec'), result])).toBe('Ada')
  })

  it('redacts the arguments that the history of a guest shows in other words', () => {
    const raw = '{"customer":{"name":"Ada Lovelace"}}'
    const shown = '{"customer":{"name":"Ada Lovelace"},"replace_all":false,"to":"ada@b.org"}'
    const results = {
      type: 'guest-results',
      conversation: 'guest:coder:c',
      results: [{ key: 'k.1', callId: 'a', nth: 0, status: 'ok', text: '', shown, durationMs: 0 }],
    } as unknown as Message
    const redaction = createRedaction([ofName, mail])
    for (const message of [called(raw), results]) redaction.learn(message)
    expect(JSON.stringify(redaction.redact(results))).not.toMatch(/Ada|ada@b/)
  })

  it('leaves no digest of arguments that would confirm a guessed value', () => {
    const redaction = createRedaction([mail])
    const id = 'k7f3-9qxm-2b4d'
    const call = {
      ordinal: 0,
      name: 'pay',
      arguments: '{"pin":1234}',
      id,
      hash: 'a'.repeat(64),
      rule: 'r',
    }
    const pending = {
      type: 'approval-pending',
      conversation: 'c',
      turn: 1,
      round: 1,
      calls: [call],
      until: 1,
    } as unknown as Message
    const key = '0123456789abcdef0123456789abcdef'
    const raised = {
      type: 'intervention-raised',
      intervention: { key, reason: `waits as ${id}` },
    } as unknown as Message
    for (const message of [pending, raised]) redaction.learn(message)
    const left = JSON.stringify([redaction.redact(pending), redaction.redact(raised)])
    for (const digest of [id, call.hash, key]) expect(left).not.toContain(digest)
  })
})

const street: RedactionRule = {
  ...base,
  name: 'street',
  pattern: regExpPattern(/Müller[' A-Za-zß]*straße/gu),
}
const plain = "Müller d'Arcstraße"

describe('a pattern for all places', () => {
  it.each([
    ['decomposed characters (NFD)', plain.normalize('NFD')],
    [
      'decomposed characters with a zero-width space',
      plain.normalize('NFD').replace('\u0308', '\u200b\u0308'),
    ],
    ['empty quotes of a shell', "Mül''ler d'Arcstr\"\"aße"],
  ])('replaces a value in %s, also if the value is nowhere plain', (_, spelling) => {
    expect(redacted(`to ${spelling}.`, [street])).toMatch(/^to street-[0-9a-f]{12}\.$/)
  })

  it.each([
    ['an escaped line end', "Mül\\nler d'Arcstraße"],
    ['a line wrap', "Mül\n  ler d'Arcstraße"],
    ['backslashes of a shell', "Mü\\ller\\ d\\'Arcstraße"],
    ['a doubled quote of SQL', "Müller d''Arcstraße"],
    ['quotes of a shell', '"Mül"ler\' d\'"\'"Arcstraße'],
    ['another context than that of the pattern', plain],
  ])('replaces a value in %s if a record has the plain value', (_, spelling) => {
    const inContext = { ...street, pattern: regExpPattern(/(?<=at )Müller d'Arcstraße/gu) }
    const record = { ...note(''), user: `at ${plain}` }
    const [whole] = redacted(`at ${plain}`, [inContext]).match(/street-[0-9a-f]{12}/) ?? []
    expect(whole).toBeDefined()
    expect(redacted(`(${spelling})`, [inContext], [record])).toMatch(
      /^\(["']?street-[0-9a-f]{12}["']?\)$/,
    )
  })

  it('replaces a longer value whole although a record has a shorter value', () => {
    const record = { ...note(''), user: 'from ann@x.co' }
    expect(redacted('to ann@x.com', [mail], [record])).toMatch(/^to mail-[0-9a-f]{12}$/)
  })

  it('keeps a word and an address on the next line apart', () => {
    expect(redacted('regards, bob\nann@x.com', [mail])).toMatch(/^regards, bob\nmail-[0-9a-f]{12}$/)
  })
})

describe('a pattern', () => {
  it.each([
    ['percent encoding', 'write to ada%40example.org now'],
    ['percent encoding in lower case', 'write to ada%40example%2eorg now'],
    ['an entity', 'write to ada&#64;example.org now'],
    ['a named entity', 'write to ada&commat;example.org now'],
    ['an escape', 'write to ada\\u0040example.org now'],
    ["Python's escape", 'write to ada\\x40example.org now'],
    ['zero-width spaces', 'write to a\u200bda@exam\u200bple.org now'],
    ['full-width characters', 'write to ada\uff20example.org now'],
  ])('finds a value in %s, everywhere and in its place', (_, text) => {
    expect(redacted(text, [mail])).toMatch(/^write to mail-[0-9a-f]{12} now$/)
    const inUser: RedactionRule = { ...mail, in: new Set(['user']) }
    const said = { ...note('x'), user: { messageId: 'm', text } } as unknown as Message
    expect(redacted('ada@example.org', [inUser], [said])).toMatch(/^mail-[0-9a-f]{12}$/)
  })
})

it('redacts the text of a guard that requests an approval, in the question and for the person', () => {
  const call = {
    ordinal: 0,
    name: 'send',
    arguments: '{}',
    source: null,
    program: null,
    question: null,
  }
  const requested = 'guard opa: no mail to ann@example.com'
  const times = { version: '1', clearedAt: 0, deadlineMs: 1, until: 1 }
  const place = { conversation: 'c', turn: 1, round: 1 }
  const asked: Message = {
    type: 'approval-asked',
    ...place,
    agent: 'a',
    rules: '[]',
    ...times,
    input: 0,
    calls: [{ ...call, requested }],
  }
  const pending: Message = {
    type: 'approval-pending',
    ...place,
    until: 1,
    calls: [{ ...call, id: 'k7f3-9qxm-2b4d', hash: 'h', rule: requested }],
  }
  const redaction = createRedaction([mail])
  for (const message of [asked, pending]) redaction.learn(message)
  const texts = [asked, pending].map((message) => JSON.stringify(redaction.redact(message)))
  expect(texts).toEqual([0, 1].map(() => expect.stringContaining('guard opa: no mail to mail-')))
  expect(texts.join()).not.toContain('ann@example.com')
})
