// The volatile parts of a text, kind by kind, and similar parts with a meaning.

import { describe, expect, it } from '@jest/globals'
import { masked } from '../../../../services/loop-detector/evidence/mask.ts'

describe('two texts are equal if they differ only in', () => {
  it.each([
    [
      'a weekday with a date',
      'built Mon, 3 Mar 2026 10:00:00 GMT by ci',
      'built Tue, 14 Apr 2026 23:59:59 GMT by ci',
    ],
    [
      'a weekday with the month first',
      'last seen Mon Mar 3 10:00:00 2026 here',
      'last seen Sat Apr 11 09:30:10 2026 here',
    ],
    [
      'a date with the month first',
      'valid until March 3, 2026 only',
      'valid until April 14, 2027 only',
    ],
    [
      'a date with the day first',
      'valid until 3 March 2026 only',
      'valid until 14 April 2027 only',
    ],
    ['a time of day after `at`', 'stopped at 10:05 again', 'stopped at 23:41 again'],
    ['an id after its name', 'request-id: a81f22 failed', 'request-id: zz90k1 failed'],
    [
      'the header of a shell result of Codex',
      'Chunk ID: c45c2f\nWall time: 0.0000 seconds\nProcess exited with code 0\nOutput:\nhi',
      'Chunk ID: 72877a\nWall time: 1.2034 seconds\nProcess exited with code 0\nOutput:\nhi',
    ],
    [
      'the number of a shell of Copilot CLI',
      'same\n<shellId: 7 completed with exit code 0>',
      'same\n<shellId: 24 completed with exit code 0>',
    ],
    ['a process id', 'worker pid=4021 gone', 'worker pid=77 gone'],
    ['a process group', 'Process Group PGID: 4021', 'Process Group PGID: 77'],
    [
      'the number of a process',
      '[Inferior 1 (process 4021) exited]',
      '[Inferior 1 (process 77) exited]',
    ],
    ['a temporary name', 'cannot open /tmp/tmp_a81f2x/out', 'cannot open /tmp/tmp_zk90s1/out'],
    ['a temporary folder', '/tmp/helm-089d65/a is bad', '/tmp/helm-fed012/a is bad'],
    ['a temporary name of few changes', '/tmp/x.k2mzq7w4.txt', '/var/tmp/x.p9trv3c6.txt'.slice(4)],
    ['a temporary folder of a build', '/tmp/go-build1613482910/b1', '/tmp/go-build3482911077/b1'],
    [
      'a temporary folder of macOS',
      '/var/folders/zz/x1_k/T/sign.q7k2m9x4/p',
      '/var/folders/zz/x1_k/T/sign.w3e8r1t5/p',
    ],
    ['a temporary name without its folder', 'cannot open tmp_a81f2x', 'cannot open tmp_zk90s1'],
    ['a counter of attempts', 'attempt 3 of 5 failed', 'attempt 4 of 5 failed'],
    ['an ordinal of attempts', 'the 3rd attempt failed', 'the 4th attempt failed'],
    ['a number of remaining tries', '3 tries left before it locks', '2 tries left before it locks'],
    ['the age of a restart', 'CrashLoopBackOff 7 (2m ago)', 'CrashLoopBackOff 7 (14m ago)'],
    ['an age in words', 'pushed 2 days ago by ann', 'pushed 3 weeks ago by ann'],
    ['an age in days and hours', 'api-0 Error 3 2d5h', 'api-0 Error 3 4d17h'],
    ['an age in hours and minutes', 'api-0 Error 3 3h2m', 'api-0 Error 3 11h40m'],
    ['a retry header', 'busy, Retry-After: 30', 'busy, Retry-After: 120'],
    ['a date', 'log of 2026-03-01 has it', 'log of 2026-04-17 has it'],
    ['a date with a time', 'at 2026-03-01T10:00:00.123Z', 'at 2026-04-17T23:59:59Z'],
    [
      'a date with a time without separators',
      'snapshot 20260301T100000Z',
      'snapshot 20260417T235959Z',
    ],
    ['a clock', 'failed 10:00:01.123 there', 'failed 23:59:59 there'],
    ['a clock of twelve hours', 'failed 9:30 am there', 'failed 11:45 pm there'],
    ['seconds since the epoch', 'ts=1767225600 x', 'ts=1793059200 x'],
    ['seconds with a fraction', 'ts=1767225600.536561 x', 'ts=1793059200.118 x'],
    ['milliseconds since the epoch', 'ts=1767225600123 x', 'ts=1793059200456 x'],
    ['a pointer at one place of a page', 'null at 0x7f3a2b1c9a40', 'null at 0x55d01e2f3a40'],
    ['the address of a printed object', '<A at 0x7f3a2b1c9d00>', '<A at 0x55d01e2f3a40>'],
    [
      'a UUID',
      'job 3f2b8c1e-01aa-4c1d-9e3f-aa77bb99cc00 gone',
      'job 9e3f8c1e-77bb-4aaa-8c1d-0a1b2c3d4e5f gone',
    ],
    ['mixed hex', 'blob 3f2b8c1e01aa missing', 'blob 99cc00aa77bb missing'],
    ['a duration', 'done in 1.24 s', 'done in 0.9 s'],
    ['a duration of minutes and seconds', 'done in 1m 4s now', 'done in 12m 59s now'],
    ['a duration of hours', 'done in 1h 2m 4s now', 'done in 3h 12m 59s now'],
    ['a duration under its name', '{"rows":1,"duration_ms":12}', '{"rows":1,"duration_ms":14.5}'],
    ['what it took', '{"took":3,"hits":0}', '{"took":11,"hits":0}'],
    ['blanks', 'a  b\n c', 'a b c'],
  ])('%s', (_, one, other) => {
    expect(masked(one)).toBe(masked(other))
  })
})

describe('two texts differ if they differ in', () => {
  it.each([
    ['an errno', 'mount failed, errno 16', 'mount failed, errno 22'],
    ['a status', 'HTTP 404', 'HTTP 403'],
    ['an exit code', 'exit code 1', 'exit code 2'],
    ['a count', '31 errors', '22 errors'],
    ['a percentage', '17 % done', '38 % done'],
    ['a line and a column', 'a.c:10:4: expected ;', 'a.c:24:9: expected ;'],
    ['a score', 'home won 3:1', 'home won 2:1'],
    ['a port', 'bind 127.0.0.1:8080', 'bind 127.0.0.1:8081'],
    ['a version', 'needs 1.22.3', 'needs 1.23.0'],
    ['a year', 'in 1999', 'in 2024'],
    ['a short hexadecimal code', 'fault 0x1f', 'fault 0x2e'],
    ['a place in a page', 'stopped at 0x7f3a2b1c9a40', 'stopped at 0x7f3a2b1c9a44'],
    ['a count of a process', 'process 3 of 9', 'process 4 of 9'],
    ['a count of things to process', 'process 30 items', 'process 20 items'],
    ['an amount', 'sum 1200300', 'sum 1200400'],
    ['a count of what it took', 'took 3 steps', 'took 4 steps'],
    ['what is left of a time', 'about 42 minutes left', 'about 38 minutes left'],
    ['remaining minutes and seconds', 'encoding, 12m 9s remaining', 'encoding, 2m 1s remaining'],
    ['remaining hours and minutes', 'copying, 3h2m left', 'copying, 1h40m left'],
    ['metres', 'the wall is 14m long', 'the wall is 12m long'],
    ['a chosen name in a temporary folder', '/tmp/out-chart.png', '/tmp/out-table.png'],
    ['a quarter in a temporary folder', '/tmp/report-2024q1.csv', '/tmp/report-2024q2.csv'],
    ['a day in a temporary folder', '/tmp/orders-20261101.csv', '/tmp/orders-20261102.csv'],
    ['a version in a temporary folder', '/tmp/app-v1beta21.tar', '/tmp/app-v1beta22.tar'],
    ['a counter in a temporary folder', '/tmp/frame-f00012.png', '/tmp/frame-f00013.png'],
    ['a random name elsewhere', '/srv/helm-089d65/a is bad', '/srv/helm-fed012/a is bad'],
    ['a word', 'disk full', 'disk busy'],
  ])('%s', (_, one, other) => {
    expect(masked(one)).not.toBe(masked(other))
  })
})
