// The time and the chance that a guard sees in a replay.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it, jest } from '@jest/globals'
import { inSandboxes } from '../../support/sandboxes.ts'
import { changesBy, guardFiles } from './judged-by-file.ts'

jest.setTimeout(120_000) // each test starts a process

const { guardFile } = guardFiles()

const names = `import crypto, { createHash, getRandomValues, randomBytes, randomFillSync, randomInt, randomUUID } from 'node:crypto'
import { uptime } from 'node:process'
`

inSandboxes('a guard in a replay', () => {
  it.each([
    ['the clock', 'Date.now() - round.time > 86_400_000 && new Date().getTime() === Date.now()'],
    [
      'the year of a format',
      `new Intl.DateTimeFormat('en', { year: 'numeric' }).format() !== String(new Date(round.time).getFullYear())`,
    ],
    [
      'the parts of a format',
      `Number(new Intl.DateTimeFormat('en', { hour: 'numeric', minute: 'numeric' }).formatToParts()[2].value) % 2 === 0`,
    ],
    ['odd milliseconds', 'Date.now() % 2 === 0'],
    ['the last digit of the time', 'Date.now() % 10 < 5'],
    ['odd milliseconds of a timer', 'performance.now() % 2 === 0'],
    ['odd nanoseconds', 'process.hrtime.bigint() % 2n === 0n'],
    ['odd minutes', 'new Date().getMinutes() % 2 === 0'],
    ['a timer', 'performance.now() - round.time > 86_400_000'],
    [
      'a fine timer',
      'Number(process.hrtime.bigint() / 1_000_000n) - round.time > 86_400_000 && process.hrtime([0, 0])[0] * 1_000 > round.time',
    ],
    ['the time since its process began', 'uptime() < 60 && process.uptime() < 60', names],
    ['when its process began', 'Date.now() - performance.timeOrigin > 60_000'],
    [
      'a timer and its origin',
      'performance.timeOrigin + performance.now() - round.time > 86_400_000',
    ],
    ['chance', 'Math.random() < 0.3'],
    ['random bytes', 'randomBytes(4).readUInt32LE() < 0.4 * 2 ** 32', names],
    ['a random number', 'randomInt(1, 11) <= 4', names],
    [
      'bytes that it has filled in',
      'randomFillSync(new Uint16Array(4), 2, 1)[2] < 0.4 * 2 ** 16',
      names,
    ],
    ['random values', 'getRandomValues(new Uint8Array(1))[0] < 100', names],
    [
      'the values of Web Crypto',
      'crypto.webcrypto.getRandomValues(new Uint32Array(1))[0] < 0.4 * 2 ** 32',
      names,
    ],
    ['a random name', `randomUUID() < '6' || globalThis.crypto.randomUUID() < '4'`, names],
    ['data that it keeps elsewhere', '++asked.count > 4', 'const asked = { count: 0 }'],
  ])(
    'that judges by %s is refused, because its live decision is unknown',
    async (_, rejects, before = '') => {
      const file = guardFile(
        `const verdict = ${rejects} ? { verdict: 'deny', code: 'no', text: 'No.' } : { verdict: 'allow' }
       return { state, verdicts: round.calls.map(({ ordinal }: any) => ({ ordinal, ...verdict })) }`,
        before,
      )
      const refused = changesBy(file)
      await expect(refused).rejects.toThrow(
        /guard-\d+\.ts: it judges the same round \(\d of the turn at offset 0\) differently at another time: call 0 (allow|deny)/,
      )
      await expect(refused).rejects.toMatchObject({ code: 'guard.invalid' })
    },
  )

  it('sees no real process number and no machine name', async () => {
    const judge = `const known = pid < 10 && process.pid < 10 && process.ppid === 1 && hostname() === 'replay'
      const verdict = known ? { verdict: 'deny', code: 'no', text: 'No.', evidence: 'known' } : { verdict: 'allow' }
      return { state, verdicts: round.calls.map(({ ordinal }: any) => ({ ordinal, ...verdict })) }`
    const file = guardFile(
      judge,
      `import { hostname } from 'node:os'\nimport { pid } from 'node:process'`,
    )
    expect((await changesBy(file))[0]).toMatchObject({ round: 1, is: { action: 'deny' } })
  })

  it('is accepted if it uses time and chance only next to its decision', async () => {
    const judge = `const began = performance.now()
      const id = Math.random().toString(36) + Date() + new Date(0).toISOString()
      if (!(new Date() instanceof Date) || new Date().constructor !== Date || performance.now() < began) throw new Error('broken')
      const evidence = new Date().toISOString() + id
      return { state, verdicts: round.calls.map(({ ordinal }: any) => ({ ordinal, verdict: 'deny', code: 'no', text: 'No.', evidence })) }`
    const [change] = await changesBy(guardFile(judge))
    expect(change).toMatchObject({ round: 1, is: { action: 'deny' } })
    expect(Date.parse(change?.is?.reason.slice(0, 24) ?? '')).toBeLessThan(Date.now() - 1000) // the round's, not now
  })

  it('draws the same numbers in each replay, in the usual shapes', async () => {
    const judge = `const id = randomUUID()
      if (!/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)) throw new Error(id)
      let refused = 0
      for (const wrong of [() => randomBytes(-1), () => randomInt(5, 5), () => randomFillSync(new Uint8Array(2), 3), () => getRandomValues([] as any)])
        try { wrong() } catch { refused += 1 }
      const bytes = randomBytes(40)
      if (refused !== 4 || !Buffer.isBuffer(bytes) || randomBytes(0).length !== 0 || randomFillSync(new Uint8Array(4), 2)[0] !== 0) throw new Error('broken')
      const hash = createHash('sha256').update(bytes).digest('hex')
      const evidence = [id, hash, randomInt(1_000_000), getRandomValues(new Uint32Array(2)).join(), Math.random()].join(' ')
      return { state, verdicts: round.calls.map(({ ordinal }: any) => ({ ordinal, verdict: 'deny', code: 'no', text: 'No.', evidence })) }`
    const file = guardFile(judge, names)
    const [[one], [other]] = [await changesBy(file), await changesBy(file)]
    expect(one?.is?.reason).toMatch(/^[0-9a-f-]{36} [0-9a-f]{64} \d+ \d+,\d+ 0\.\d+$/)
    expect(other?.is?.reason).toBe(one?.is?.reason)
  })

  it('has the time of the round in Temporal too, if Node.js has it', () => {
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [...temporal, '--no-warnings', '--input-type=module', '--eval', atMoment, module],
      { encoding: 'utf8', env: { TZ: 'UTC' } },
    )
    expect(stderr).toBe('')
    expect(stdout).toBe(
      '2001-09-09T01:46:40Z 2001-09-09T01:46:40 2001-09-09 01:46:40 2001-09-09T10:46:40 true\n',
    )
  })
})

const module = fileURLToPath(new URL('../../../apps/replay/guard/moment.ts', import.meta.url))

/** The flag of Node.js 24 for it. */
const temporal = 'Temporal' in globalThis ? [] : ['--harmony-temporal']

const atMoment = `
const { holdMoments } = await import(process.argv[1])
const { Now } = Temporal
const told = holdMoments()({ time: 1e12 }, () =>
  [Now.instant(), Now.plainDateTimeISO(), Now.plainDateISO(), Now.plainTimeISO(), Now.zonedDateTimeISO('Asia/Tokyo').toPlainDateTime()])
console.log(told.join(' '), Now.plainDateISO().year > 2001)
`
