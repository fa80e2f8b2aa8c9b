import { EventEmitter } from 'node:events'
import { expect, it } from '@jest/globals'
import { within } from '../../../../apps/http/console/route-parts.ts'
import { createSlots } from '../../../../shared/lib/slots.ts'

/** An answer whose client can leave. */
const answer = () => Object.assign(new EventEmitter(), { destroyed: false })

it('a request whose client leaves while it waits for a slot does no work', async () => {
  const slots = createSlots(1)
  const first = Promise.withResolvers<void>()
  const done: string[] = []
  const work = (name: string, until?: Promise<void>) => async () => {
    await until
    done.push(name)
  }
  const running = within(slots, work('first', first.promise), { line: 'acme' })
  const gone = answer()
  const left = within(slots, work('left'), { line: 'acme', outgoing: gone })
  const last = within(slots, work('last'), { line: 'acme', outgoing: answer() })
  gone.emit('close')
  await expect(left).rejects.toThrow('send the same request again')
  first.resolve()
  await Promise.all([running, last])
  expect(done).toEqual(['first', 'last'])
  expect(slots.busy).toBe(0)
})

it('a request whose client has left before it waits does no work', async () => {
  const slots = createSlots(1)
  const outgoing = Object.assign(answer(), { destroyed: true })
  const done: string[] = []
  const request = within(slots, async () => void done.push('read'), { outgoing })
  await expect(request).rejects.toThrow('send the same request again')
  expect(done).toEqual([])
  expect(slots.busy).toBe(0)
})

it('requests of one line leave a slot free for another line', async () => {
  const slots = createSlots(2, { lineMax: 1 })
  const stop = Promise.withResolvers<void>()
  const own = [1, 2, 3].map(() => within(slots, () => stop.promise, { line: 'acme' }))
  await expect(within(slots, async () => 'read', { line: 'beta' })).resolves.toBe('read')
  expect(slots.busy).toBe(1)
  stop.resolve()
  await Promise.all(own)
})
