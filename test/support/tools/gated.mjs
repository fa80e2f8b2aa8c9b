// A tool that waits for a test: node gated.mjs STARTS GATE. It appends a line to the file STARTS, waits
// until the file GATE exists, prints that file and ends with exit code 0, or 3 if it is "fail".

import { appendFileSync, existsSync, readFileSync } from 'node:fs'

const [, , starts, gate] = process.argv
process.on('SIGTERM', () => {
  process.stdout.write('stopped')
  process.exit(0)
})
appendFileSync(starts, `${process.pid}\n`)
while (!existsSync(gate)) {
  if (!existsSync(starts)) process.exit(4) // the test is over
  await new Promise((resolve) => setTimeout(resolve, 20))
}
const text = readFileSync(gate, 'utf8')
process.stdout.write(text)
process.exitCode = text === 'fail' ? 3 : 0
