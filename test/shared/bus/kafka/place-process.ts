// A separate process that holds a place until it is killed. Run as: place-process.ts <path> <owner>. It
// prints its name.

import { pino } from 'pino'
import { openProcessPlace } from '../../../../shared/bus/kafka/table/process-place.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'

const [path = '', owner = ''] = process.argv.slice(2)
const place = openProcessPlace({ path, clock: systemClock, log: pino({ level: 'silent' }) })
place?.addOwner(owner)
process.stdout.write(`${place?.name}\n`)
setInterval(() => place?.name, 60_000)
