// Equality of arguments and texts, kinds of failure, and the purpose of a call.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { operationOf } from '../../../../services/loop-detector/evidence/effect.ts'
import { failureKindOf } from '../../../../services/loop-detector/evidence/failure-kind.ts'
import { masked } from '../../../../services/loop-detector/evidence/mask.ts'
import { readArguments } from '../../../../shared/contract/identity/arguments.ts'
import { limits } from '../../../../shared/contract/limits.ts'

const canonical = (raw: string, ...ignoreFields: string[]) =>
  readArguments(raw, {
    mutates: null,
    ignoreFields,
    loopKey: [],
    denial: null,
    labels: [],
    client: false,
    once: null,
  }).canonical

describe('arguments', () => {
  it.each([
    ['the order of keys', '{"a":1,"b":{"c":2,"d":3}}', '{"b":{"d":3,"c":2},"a":1}'],
    ['blanks between tokens', '{"a":[1,2]}', ' { "a" : [ 1 , 2 ] } '],
    ['blanks around and inside a line', '{"a":"git  log "}', '{"a":" git log"}'],
    ['the spelling of a number', '{"a":30}', '{"a":3.0e1}'],
    ['the spelling of a string', '{"a":"é/"}', '{"a":"\\u00e9\\/"}'],
    [
      'members without a value',
      '{"a":1}',
      '{"a":1,"b":null,"c":"","d":"  ","e":{},"f":{"g":null}}',
    ],
    ['nothing at all', '{}', ''],
    ['the spelling of a path', '{"path":"a.ts"}', '{"path":"./src/..//a.ts"}'],
    ['text that is no JSON, blanks around it', '{"a', ' {"a\n'],
  ])('are equal for any %s', (_, one, other) => expect(canonical(one)).toBe(canonical(other)))

  it.each([
    ['a value', '{"a":1}', '{"a":2}'],
    ['a type', '{"a":1}', '{"a":"1"}'],
    ['false and nothing', '{"a":false}', '{}'],
    ['zero and nothing', '{"a":0}', '{}'],
    ['an empty list and nothing', '{"a":[]}', '{}'],
    ['the order of a list', '{"a":[1,2]}', '{"a":[2,1]}'],
    ['indentation in several lines', '{"a":"if x:\\n  y"}', '{"a":"if x:\\n    y"}'],
    ['integers that are equal as doubles', '{"id":9007199254740993}', '{"id":9007199254740992}'],
    ['a URL that only looks like a path', '{"path":"http://a/b"}', '{"path":"http:/a/b"}'],
    ['text that is no JSON', '{"a', '{"b'],
  ])('differ by %s', (_, one, other) => expect(canonical(one)).not.toBe(canonical(other)))

  it('omit declared comments of a tool, at the top only', () => {
    expect(canonical('{"a":1,"why":"x"}', 'why')).toBe(canonical('{"a":1}'))
    expect(canonical('{"a":{"why":"x"}}', 'why')).not.toBe(canonical('{"a":{"why":"y"}}', 'why'))
  })

  it('are canonical for any value, in any order of keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), (value) => {
        const turned = Object.fromEntries(Object.entries(value).reverse())
        expect(canonical(JSON.stringify(turned))).toBe(canonical(JSON.stringify(value, null, 2)))
      }),
      { numRuns: 200 },
    )
  })
})

describe('masked texts', () => {
  it.each([
    ['2026-01-03T10:00:01Z failed', '2026-02-04T11:20:31.123+02:00 failed'],
    ['at 10:00:01 it failed', 'at 23:59:59.999 it failed'],
    ['Sat, 03 Jan 2026 10:00:01 GMT', 'Sun, 04 Feb 2027 11:11:11 GMT'],
    ['id 6f1c2c3e-8f2a-4c07-9d3e-0123456789ab', 'id 00000000-1111-2222-3333-abcdef012345'],
    ['request req-8f2a1c07 failed', 'request req-11b0de93 failed'],
    ['request id: Zk41 failed', 'request id: Qp77 failed'],
    ['took 3.21 s', 'took 12 s'],
    ['took 350ms', 'took 9ms'],
    ['attempt 2 of 5', 'attempt 3 of 5'],
    ['retry after 2s', 'retry after 8s'],
    ['at 0x7ffd3a2b1c40', 'at 0x55d01e2f3c40'],
    ['since 1767434401', 'since 1767434999'],
    ['one\n  two', 'one two'],
  ])('are equal: %j and %j', (one, other) => expect(masked(one)).toBe(masked(other)))

  it.each([
    ['errno 111', 'errno 113'],
    ['HTTP 401', 'HTTP 403'],
    ['10% done', '30% done'],
    ['3 failed', '2 failed'],
    ['a.ts:10:5: error', 'a.ts:12:5: error'],
    ['line 10', 'line 11'],
    ['port 8080', 'port 8081'],
    ['0x80070005', '0x80070006'],
    ['exit code 1', 'exit code 2'],
    ['rows 0-9', 'rows 10-19'],
    ['version 1.2.3', 'version 1.2.4'],
    ['total 12345678', 'total 12345679'],
  ])('differ: %j and %j', (one, other) => expect(masked(one)).not.toBe(masked(other)))

  it('keep the text beyond the bound', () => {
    const long = 'x'.repeat(limits.loopMaskedCharsMax)
    expect(masked(`${long}1`)).not.toBe(masked(`${long}2`))
  })
})

describe('the kind of a failure', () => {
  it.each([
    [
      'bare',
      [
        '',
        'exit code 1',
        'Command failed with exit status 2',
        'process exited with code 127',
        'error',
        'killed by signal 9',
      ],
    ],
    [
      'transient',
      [
        '429 too many requests',
        'connect ECONNREFUSED 1.2.3.4:80',
        'HTTP 503',
        'request timed out',
        'connection refused',
        'errno 111',
      ],
    ],
    [
      'unknown_tool',
      [
        "unknown tool 'x'",
        'tool read_file is not registered',
        "tool 'x' not found",
        'no tool named x',
        'MCP error -32601: Method not found: x',
        'Function x is not available.',
      ],
    ],
    [
      'denied',
      [
        '401 unauthorized',
        'EACCES: cannot open',
        'Permission denied',
        'declined by user',
        'The user rejected it',
        'signature mismatch',
        'token expired',
      ],
    ],
    [
      'shape',
      [
        "missing 'command' parameter",
        "missing 'command'",
        "missing required field 'x'",
        'path must be a string',
        'the arguments are not valid JSON',
        'HTTP 400',
      ],
    ],
    [
      'miss',
      [
        'no such file: x',
        'ENOENT: x',
        'anchor text not found',
        'HTTP 404',
        'user 7 does not exist',
        'command not found',
      ],
    ],
    [
      'other',
      [
        'status is odd',
        '1 failed: assert total',
        'fatal: not a git repository',
        'line 503: bad',
        'HTTP 500',
        'exit 1: boom',
        'Disk quota exceeded',
      ],
    ],
  ])('is %s', (kind, errors) =>
    expect(errors.map((error) => [error, failureKindOf(error)])).toEqual(
      errors.map((error) => [error, kind]),
    ),
  )
})

describe('the purpose of a call', () => {
  it.each([
    [
      'reads',
      [
        'read_file',
        'listDir',
        'mcp__fs__get_info',
        'web-search',
        'lookup',
        'get_order',
        'readMail',
        'crm.fetch-post',
      ],
    ],
    [
      'changes',
      [
        'write_file',
        'editFile',
        'send.mail',
        'search_and_replace',
        'git_commit',
        'get_and_send',
        'order_get_started',
      ],
    ],
    ['waits', ['sleep', 'wait_for_job']],
    ['opaque', ['frobnicate', 'x', '', 'exec']],
  ])('follows from its name: %s', (effect, tools) =>
    expect(tools.map((tool) => operationOf(tool, {}).effect)).toEqual(tools.map(() => effect)),
  )

  it('follows from the script of a list of words, and a list with other members has no command', () => {
    const effects = (...command: unknown[]) => operationOf('shell', { command }).effect
    expect(effects('bash', '-lc', 'ls -la')).toBe('reads')
    expect(effects('/bin/sh', '-c', 'rm a')).toBe('changes')
    for (const member of [{ toString: 1 }, [[{ toString: 1 }]], null, 5]) {
      expect(effects(member, '-c', 'ls')).toBe('opaque')
      expect(effects('sh', member, 'ls')).toBe('opaque')
      expect(effects('sh', '-c', member)).toBe('opaque')
    }
  })

  it.each([
    [
      'reads',
      [
        'ls -la',
        'cat a | grep b 2>/dev/null',
        'cd x && git status',
        '/bin/ls',
        'FOO=1 command ls 2>&1',
        'sed -n 1,5p a',
        'find . -name a',
      ],
    ],
    [
      'changes',
      [
        'rm a',
        'echo x > a',
        'npm install',
        'git commit -m x',
        'sed -i s/a/b/ c',
        'ls; make',
        'find . -delete',
        'python fix.py',
        'cd a',
      ],
    ],
    ['waits', ['sleep 5', 'sleep 5 && cat log']],
  ])('follows from its command: %s', (effect, commands) =>
    expect(commands.map((command) => [command, operationOf('shell', { command }).effect])).toEqual(
      commands.map((command) => [command, effect]),
    ),
  )

  it.each([
    ['python', { code: 'import time\ntime.sleep(5)' }, 'look'],
    ['powershell', { command: 'Start-Sleep -Seconds 5' }, 'look'],
    ['shell', { command: 'sleep 5 && gh run view' }, 'look'],
    ['shell', { command: 'sleep 5; tail -1 log' }, 'look'],
    ['wait_for_job', { id: 3, timeout: 30 }, 'look'],
    ['shell', { command: 'sleep 30 && echo done' }, 'only'],
    ['wait', {}, 'only'],
    ['shell', { command: 'grep "sleep 5" run.sh' }, 'no'],
    ['shell', { command: 'sleep 0; cat log' }, 'no'],
    ['shell', { command: 'make sleep test' }, 'no'],
  ])('may be a wait next to any other action: %s %j', (tool, value, waits) => {
    expect(operationOf(tool, value).waits).toBe(waits)
    expect(operationOf(tool, { path: 'sleep (1)', command: 'ls' }).waits).toBe(
      tool.startsWith('wait') ? 'only' : 'no',
    )
  })
})
