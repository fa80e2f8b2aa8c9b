// Copies of a call as tools print them, in frames and gutters, and texts that only speak of a call.

import { describe, expect, it } from '@jest/globals'
import { echoSource } from '../../../services/accumulator/echo.ts'
import { cpuMsOf } from '../../support/cpu-time.ts'

const schema = (properties: string[]) =>
  JSON.stringify({
    type: 'object',
    properties: Object.fromEntries(properties.map((name) => [name, {}])),
  })
const offered = [
  { name: 'write_file', schema: schema(['path', 'content', 'mode']) },
  { name: 'rm', schema: schema(['path']) },
  { name: 'reset', schema: schema([]) },
]
const echo = (text: string, before: string) =>
  echoSource({ text, offered, callsAsText: true }, [{ source: 'hit', text: before }])

const object = { name: 'write_file', arguments: { path: '/srv/a', content: 'one line\nand two' } }
const written = {
  JSON: JSON.stringify(object),
  'JSON over lines': JSON.stringify(object, null, 2),
  Python: '[write_file(path="/srv/a", content="one line\\nand two")]',
  'tags of functions':
    '<tool_call>\n<function=write_file>\n<parameter=path>\n/srv/a\n</parameter>\n<parameter=content>\none line\nand two\n</parameter>\n</function>\n</tool_call>',
  'tags of invocations':
    '<function_calls>\n<invoke name="write_file">\n<parameter name="path">/srv/a</parameter>\n<parameter name="content">one line\nand two</parameter>\n</invoke>\n</function_calls>',
  GLM: '<tool_call>write_file\n<arg_key>path</arg_key>\n<arg_value>/srv/a</arg_value>\n<arg_key>content</arg_key>\n<arg_value>one line\nand two</arg_value>\n</tool_call>',
}
type Written = keyof typeof written
const answers = Object.keys(written) as Written[]

const lines = (text: string, line: (one: string, n: number) => string) =>
  text.split('\n').map(line).join('\n')
const inHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const copies: [string, (text: string) => string][] = [
  ['behind names and numbers of lines', (t) => lines(t, (l, n) => `notes.md:${n + 1}:${l}`)],
  ['in the context of a hit', (t) => lines(t, (l, n) => `src/a/notes.md-${n + 1}-${l}`)],
  ['behind numbers of lines', (t) => lines(t, (l, n) => `${n + 1}:${l}`)],
  ['behind numbers and bars', (t) => lines(t, (l, n) => `  ${n + 1} | ${l}`)],
  ['in comments of two slashes', (t) => lines(t, (l) => `// ${l}`)],
  ['in comments of two dashes', (t) => lines(t, (l) => `-- ${l}`)],
  ['in comments with stars', (t) => `/**\n${lines(t, (l) => ` * ${l}`)}\n */`],
  ['in the log of a container', (t) => lines(t, (l) => `web-1  | ${l}`)],
  ['behind times', (t) => lines(t, (l, n) => `2026-11-23T06:50:4${n % 10}.123Z ${l}`)],
  [
    'behind times in the log of a container',
    (t) => lines(t, (l) => `web-1 | 2026-11-23 06:50 ${l}`),
  ],
  ['in a box', (t) => `┌──┐\n${lines(t, (l) => `│ ${l}   │`)}\n└──┘`],
  ['in a diff', (t) => lines(t, (l) => `+${l}`)],
  ['in a quote of a quote', (t) => lines(t, (l) => `> > ${l}`)],
  ['in a listing of a quote', (t) => lines(t, (l, n) => `${n + 1}\t> ${l}`)],
  ['in HTML with line ends', (t) => inHtml(t).replaceAll('\n', '<br>\n')],
  ['in HTML twice', (t) => inHtml(inHtml(t))],
  [
    'in HTML with colours',
    (t) =>
      t.replaceAll(/\\n|\w+|[<>&]/g, (l) =>
        /\w/.test(l) ? `<span class="s">${l}</span>` : inHtml(l),
      ),
  ],
  ['with colours of a terminal', (t) => t.replaceAll(/write_file|path/g, '\u001b[31m$&\u001b[0m')],
  ['in a list of lines', (t) => JSON.stringify({ lines: t.split('\n') })],
  [
    'in objects of lines',
    (t) => JSON.stringify(t.split('\n').map((text, line) => ({ line, text }))),
  ],
  ['in hits of a search', (t) => JSON.stringify({ hits: lines(t, (l, n) => `a/b.md:${n}: ${l}`) })],
  ['in a cell of a table', (t) => `| a | b |\n|---|---|\n| ${t.replaceAll('\n', '<br>')} | x |`],
  ['in a numbered diff in HTML', (t) => lines(inHtml(t), (l, n) => `<td>${n}</td> + ${l}`)],
  ['in a listing in a JSON text', (t) => JSON.stringify({ out: lines(t, (l, n) => `${n}\t${l}`) })],
]

describe('a call in text whose copy stands in an earlier text', () => {
  it.each(copies)('is an echo %s, in each dialect', (_, copy) => {
    const missed = answers.flatMap((source) =>
      answers
        .filter((answer) => echo(written[answer], `See:\n${copy(written[source])}\nEnd.`) === null)
        .map((answer) => `${answer} of ${source}`),
    )
    expect(missed).toEqual([])
  })

  it('is an echo with values of one letter', () => {
    const text = '{"name":"rm","arguments":{"path":"x"}}'
    expect(
      echo(text, 'a.json:1:{\na.json:2: "name": "rm",\na.json:3: "arguments": {"path": "x"}'),
    ).toBe('hit')
  })

  it('is an echo without arguments, if the copy has empty ones', () => {
    const text = '{"name":"reset","arguments":{}}'
    expect(echo(text, 'a:1:{\na:2: "name": "reset",\na:3: "arguments": {}\na:4:}')).toBe('hit')
    expect(echo(text, '// {"name": "reset",\n// "arguments": { }}')).toBe('hit')
    expect(echo(text, 'Then reset: the arguments are {"a": 1}, see name: reset.')).toBeNull()
  })
})

describe('a text that only speaks of a call', () => {
  const call = '{"name":"rm","arguments":{"path":"/tmp/a"}}'
  it.each([
    ['in a sentence', 'delete /tmp/a with rm'],
    ['in a sentence with the name of the argument', 'Use rm with the path /tmp/a, please.'],
    ['in a command of a shell', '$ rm -rf /tmp/a\nrm: cannot remove "/tmp/a": no such path'],
    ['with words far apart', `rm(file) deletes. ${'Much other text. '.repeat(200)}path = "/tmp/a"`],
    ['with the value far away', `rm(path = here). ${'word '.repeat(40)} /tmp/a`],
    ['in a list of tools', '{"tools":[{"name":"rm","parameters":{"path":{"type":"string"}}}]}'],
    ['in the data of a file', '{"files":[{"path":"/tmp/a","mode":"rm"}]}'],
    ['in a definition', 'def rm(path):\n  remove("/tmp/a")'],
    ['in lines of words', 'rm: path=/tmp/a'],
    ['with another value', '> {"name":"rm",\n> "arguments":{"path":"/tmp/b"}}'],
    ['with more arguments, in JSON', '[{"name":"rm","arguments":{"path":"/tmp/a","force":true}}]'],
  ])('is no copy %s', (_, before) => expect(echo(call, before)).toBeNull())

  it('is no copy of a call with short values', () => {
    const short = '{"name":"rm","arguments":{"path":"x"}}'
    expect(echo(short, 'Solve x + y = 3, and rm the file x when you know its path.')).toBeNull()
  })
})

describe('a hostile earlier text', () => {
  const call = '{"name":"rm","arguments":{"path":"/x"}}'
  const deep = (n: number) => `{"a":${'['.repeat(n)}${']'.repeat(n)}}`

  it.each([5_000, 50_000])('nested %i levels deep never throws', (n) => {
    const text = JSON.stringify({ name: 'rm', arguments: deep(n) })
    expect(echo(call, text)).toBeNull()
    expect(echo(call, text + call)).toBe('hit')
    expect(echo(text, call)).toBeNull()
  })

  it.each(['\\', '&', '<span ', '\u001b[', '"', '{"a":', '<tool_call>'])(
    'of many %j is searched in linear time, or is an echo',
    (mark) => {
      const text = `rm ${mark.repeat(100_000 / mark.length)}`
      expect(['hit', null]).toContain(echo(call, text))
      expect(echo(call, text + call)).toBe('hit')
    },
  )

  it('of fences without a line end is searched in linear time', () => {
    const cpuMs = cpuMsOf(() => expect(echo(call, `rm ${'~~~\r'.repeat(40_000)}`)).toBeNull())
    expect(cpuMs).toBeLessThan(3_000)
  })

  it('hides no copy inside of another call', () => {
    const copy = ['{', '"name": "rm",', '"arguments": {"path": "/x"}', '}']
    const text = JSON.stringify({ name: 'rm', arguments: { path: '/y', lines: copy } })
    expect(echo(call, text)).toBe('hit')
  })

  it('that needs too much work is an echo, also divided among many texts', () => {
    const one = `rm ${'{"rm":['.repeat(1_000)}`
    const texts = Array.from({ length: 400 }, (_, n) => ({ source: `${n}`, text: one }))
    const answer = { text: call, offered, callsAsText: true }
    expect(echoSource(answer, texts.slice(0, 1))).toBeNull()
    expect(echoSource(answer, texts)).not.toBeNull()
  })
})
