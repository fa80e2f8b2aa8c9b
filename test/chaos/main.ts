// The chaos suite's command line: main.ts [--minutes N] [--seed S] [--clients N] [--partitions N]
// [--spare-broker] [--signed] [--upgrade] [--small]. Signed: records are signed and encrypted, and each
// job has a user of Kafka with the least rights. Upgrade: the fleet begins with the former version of Weir,
// and gets this one in the middle. Small: the fleet of `make test`. Exit 0: no violation. Exit 1: some
// rule was violated, and the printed folder holds the logs of all processes, the records and the violations.

import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { smallLayout, wideLayout } from './layouts.ts'
import { runChaos } from './run.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string', default: randomBytes(4).toString('hex') },
    clients: { type: 'string', default: '10' },
    partitions: { type: 'string', default: '4' },
    'spare-broker': { type: 'boolean', default: false },
    signed: { type: 'boolean', default: false },
    upgrade: { type: 'boolean', default: false },
    small: { type: 'boolean', default: false },
  },
})

const options = {
  seed: values.seed,
  minutes: Number(values.minutes),
  clients: Number(values.clients),
  partitions: Number(values.partitions),
  sparesBroker: values['spare-broker'],
  signed: values.signed,
  upgrades: values.upgrade,
}
console.log(JSON.stringify(options))
const { violations, summary, folder } = await runChaos({
  ...options,
  layout: values.small ? smallLayout : wideLayout,
  print: (line) => console.log(line),
})
console.log(summary)
if (folder !== undefined) console.log(`seed ${options.seed} failed; its artifacts are in ${folder}`)
process.exit(violations.length === 0 ? 0 : 1)
