// A separate process that writes a log. Tests lock it out, read next to it and kill it. Run as:
// writing-process.ts <file> <calls>
//
// It appends calls of ten records, five to each partition of `inbox`, and a stage copies them to
// `copy`. Standard output gets a line for each acknowledged call, with `open` before the first and
// `done` after the last. Then it runs until it is killed.

import { writeSync } from 'node:fs'

import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import { systemClock } from '../../../shared/lib/clock.ts'

const [file = '', calls = '0'] = process.argv.slice(2)
const bus = await openEmbeddedBus({ file, clock: systemClock, synchronous: 'off' })
await bus.ensureTopics([
  { name: 'inbox', kind: 'log', partitions: 2 },
  { name: 'copy', kind: 'log', partitions: 2 },
])
await bus.subscribe({
  group: 'copier',
  topic: 'inbox',
  assign: async ({ ends, committed }) => ({
    position: committed?.offset ?? ends.begin,
    read: async (records: StoredRecord[]) => ({
      outputs: records.map(({ partition, key, value, offset }) => ({
        topic: 'copy',
        partition,
        key,
        value,
        id: `copier/${partition}/${offset}/0`,
      })),
      commit: { offset: (records.at(-1)?.offset ?? 0) + 1, metadata: 'copied' },
    }),
    acknowledged() {},
    close: async () => {},
  }),
})
tell('open')
for (let call = 0; call < Number(calls); call += 1) {
  const value = Buffer.alloc(300, 'x')
  await bus.append(
    Array.from({ length: 10 }, (_, n) => ({
      topic: 'inbox',
      partition: n % 2,
      key: `${process.pid} ${call}`,
      value,
    })),
  )
  tell(`${call}`)
}
tell('done')
setInterval(() => {}, 60_000)

/** At once, without buffers: a SIGKILL cannot lose a printed line. */
function tell(line: string): void {
  writeSync(1, `${line}\n`)
}
