// `weir guard` and guards in the process of the stages, as somebody at a shell has them, on the embedded bus.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import { call, says, script, text } from '../support/script.ts'
import type { Desk } from '../support/weir-command.ts'
import { openDesk } from '../support/weir-command.ts'
import { startUp } from '../support/weir-up.ts'

let desk: Desk | undefined

afterEach(async () => {
  await desk?.close()
  desk = undefined
})

const guardFile = `
export default {
  name: 'no-removal', version: '1', tools: ['exec'], deadlineMs: 10000, onTimeout: 'reject',
  judge: (state, { calls }) => ({
    state,
    verdicts: calls.map(({ ordinal, arguments: { command } }) =>
      command.startsWith('rm') ? { ordinal, verdict: 'reject', code: 'removes', text: 'Nothing may be removed.' } : { ordinal, verdict: 'pass' }),
  }),
}
`

async function atDesk(): Promise<Desk> {
  const removes = () => [says(call('exec', { command: 'rm x' })), says(text('Done.'))]
  desk = await openDesk(script(...removes(), ...removes(), ...removes()))
  await writeFile(join(desk.folder, 'guard.mjs'), guardFile)
  return desk
}

const ask = ['ask', '--agent', 'agent.yaml', '--conversation', 'c']
const starts = async ({ folder }: Desk) =>
  (await readFile(join(folder, 'starts'), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '')

describe('weir guard', () => {
  it('has guards run, switched, listed, inspected and removed', async () => {
    const { run, ...rest } = await atDesk()
    const here = { run, ...rest }
    const shadow = await run([...ask, '--guard', 'guard.mjs', 'one'])
    expect(shadow).toMatchObject({ code: 0, out: 'Done.\n' })
    expect(await starts(here)).toHaveLength(1)

    expect(await run(['guard', 'mode', 'no-removal', 'enforce'])).toMatchObject({ code: 0, out: 'no-removal enforces for exec\n' })
    const enforced = await run([...ask, '--guard', 'guard.mjs', 'two'])
    expect(enforced.errors).toContain('exec waits for guard no-removal')
    expect(enforced.errors).toContain('exec vetoed: vetoed by guard no-removal: removes')
    expect(await starts(here)).toHaveLength(1)

    const listed = JSON.parse((await run(['guard', 'list', '--json'])).out)
    expect(listed).toMatchObject({
      name: 'no-removal',
      version: '1',
      mode: 'enforce',
      rounds: 2,
      rejected: 1,
      wouldHaveRejected: 1,
      late: 0,
    })
    expect((await run(['guard', 'list'])).out).toContain('2 rounds, 1 call rejected, 1 would have been')

    const page = (await run(['inspect', 'c'])).out
    expect(page).toMatch(/guard +no-removal 1, a shadow: answered after/)
    expect(page).toContain('call 0: would have been rejected (removes)')
    expect(page).toContain('call 0: rejected (removes); this stopped it')

    expect(await run(['guard', 'remove', 'no-removal'])).toMatchObject({ code: 0 })
    expect((await run(['guard', 'list'])).out).toContain('no guard is registered')
    expect(await run([...ask, 'three'])).toMatchObject({ code: 0 })
    expect(await starts(here)).toHaveLength(2)
  }, 60_000)

  it('switches, lists and removes guards beside a Weir that runs on the embedded bus', async () => {
    const here = await atDesk()
    const { run } = here
    await mkdir(join(here.folder, 'guards'))
    await writeFile(join(here.folder, 'guards', 'guard.mjs'), guardFile)
    const up = startUp(here, { args: ['--agents', 'agent.yaml', '--guards', 'guards'] })
    await up.untilReady()
    const lines = async () => JSON.parse((await run(['guard', 'list', '--json'])).out || 'null')
    expect(await lines()).toMatchObject({ name: 'no-removal', mode: 'shadow' })
    expect(await run(['guard', 'mode', 'no-removal', 'enforce'])).toMatchObject({
      code: 0,
      errors: '',
      out: 'no-removal enforces for exec\n',
    })
    expect(await lines()).toMatchObject({ name: 'no-removal', mode: 'enforce' })
    expect((await run(['guard', 'mode', 'nobody', 'enforce'])).errors).toContain('registered are no-removal')
    expect(await run(['guard', 'remove', 'no-removal'])).toMatchObject({ code: 0, errors: '' })
    expect(await lines()).toBe(null)
    up.signal('SIGTERM')
    expect((await up.ended).code).toBe(0)
  }, 60_000)

  it('says what is wrong with a guard, a name and a bus', async () => {
    const { run, folder } = await atDesk()
    await writeFile(
      join(folder, 'bad.mjs'),
      'export default { name: "Bad!", version: "1", tools: ["*"], deadlineMs: 5, onTimeout: "reject", judge() {} }',
    )
    const bad = await run([...ask, '--guard', 'bad.mjs', 'go'])
    expect(bad.code).not.toBe(0)
    expect(bad.errors).toContain('bad.mjs: its name is "Bad!"')
    const unknown = await run([...ask, '--guard', 'guard.mjs', 'go']).then(() => run(['guard', 'mode', 'nobody', 'enforce']))
    expect(unknown.code).toBe(2)
    expect(unknown.errors).toContain('no guard "nobody" is registered; registered are no-removal')
    await writeFile(join(folder, 'second.mjs'), guardFile.replace("version: '1'", "version: '2'"))
    const taken = await run([...ask, '--guard', 'second.mjs', 'go'])
    expect(taken.errors).toContain('there is a guard no-removal already, and it is version 1, this is 2')
    expect((await run(['guard', 'run', 'guard.mjs'])).errors).toContain('on the embedded bus one process does all the writing')
  }, 60_000)
})
