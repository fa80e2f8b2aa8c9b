import { describe, expect, it } from '@jest/globals'
import { errorLine } from '../../../../shared/contract/call/error-line.ts'
import { limits } from '../../../../shared/contract/limits.ts'

describe('the error line', () => {
  it.each([
    ["missing 'command' parameter\n", "missing 'command' parameter"],
    ['\n  \nfirst of two\nsecond\n', 'first of two'],
    [
      'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    main()\nValueError: bad date\n',
      'ValueError: bad date',
    ],
    [
      'file:///a/b.mjs:3\nthrow new RangeError("x")\n      ^\n\nRangeError: too far\n    at file:///a/b.mjs:3:7\n\nNode.js v24.1.0\n',
      'RangeError: too far',
    ],
    [
      '(node:12) Warning: old\nnpm warn config\nWARNING: slow disk\ncould not connect\n',
      'could not connect',
    ],
    [
      "thread 'main' panicked at src/main.rs:4:5:\r\nindex out of bounds\r\n",
      "thread 'main' panicked at src/main.rs:4:5:",
    ],
    ['progress 1\nprogress 2\nfatal: not a repository\n', 'fatal: not a repository'],
    [
      'java.lang.IllegalStateException: closed\n\tat A.b(A.java:1)\n',
      'java.lang.IllegalStateException: closed',
    ],
    ['    only indented\n', 'only indented'],
    [
      '\u001b[2mnpm\u001b[0m warn old\n\u001b[1;31merror\u001b[0m: no \u0007 such\tfile\u0000\n',
      'error: no such file',
    ],
    [
      "Chunk ID: c7089f\nWall time: 0.0512 seconds\nProcess exited with code 2\nOriginal token count: 14\nOutput:\nls: cannot access 'missing': No such file or directory\n",
      "ls: cannot access 'missing': No such file or directory",
    ],
    [
      'Exit code: 1\nWall time: 0.1 seconds\nOutput:\ncollected 3 items\nTypeError: no\n',
      'TypeError: no',
    ],
    [
      'Chunk ID: c7089f\nWall time: 0.0512 seconds\nProcess exited with code 7\nOutput:\n',
      'Process exited with code 7',
    ],
    ['Chunk ID: c7089f\nanother tool: no such chunk\n', 'Chunk ID: c7089f'],
  ])('of %j is %j', (output, line) => expect(errorLine(output)).toBe(line))

  it('is undefined for empty output', () => {
    expect(errorLine('')).toBeUndefined()
    expect(errorLine(' \n\n')).toBeUndefined()
  })

  it('is bounded', () => {
    expect(Buffer.byteLength(errorLine('é'.repeat(10_000)) ?? '')).toBeLessThanOrEqual(
      limits.reasonBytesMax,
    )
  })
})
