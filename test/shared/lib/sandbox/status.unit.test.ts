import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from '@jest/globals'
import { sandboxStatus } from '../../../../shared/lib/sandbox/status.ts'

describe('the status lines of a sandbox', () => {
  it('name the group of the program to everything that waits for it, also later', async () => {
    const stream = new PassThrough()
    const status = sandboxStatus(stream)
    const groups: number[] = []
    status.onGroup((group) => groups.push(group))
    stream.write('{ "child-pid": ')
    await turn()
    expect(groups).toEqual([])
    stream.write('42, "cgroup-namespace": 1 }\n')
    await turn()
    stream.write('{ "exit-code": 0 }\n')
    await turn()
    status.onGroup((group) => groups.push(group))
    expect(groups).toEqual([42, 42])
    expect(status.hasRun()).toBe(true)
  })
})
