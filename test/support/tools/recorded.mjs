// A tool that first writes its start to a file, so a test can count the calls that really ran.
// Usage: recorded.mjs NAME STARTS_FILE, with arguments as JSON on standard input. The arguments are
// `sleepMs` (a duration), `until` (a file to wait for) and `fail` (an error).

import { appendFileSync, existsSync } from 'node:fs'

const [, , name, startsFile] = process.argv
let input = ''
process.stdin.setEncoding('utf8')
for await (const chunk of process.stdin) input += chunk
appendFileSync(
  startsFile,
  `${JSON.stringify({ name, key: process.env.WEIR_IDEMPOTENCY_KEY, arguments: input.slice(0, 1_000) })}\n`,
)
const args = JSON.parse(input)
if (args.sleepMs) await new Promise((resolve) => setTimeout(resolve, args.sleepMs))
while (args.until && !existsSync(args.until))
  await new Promise((resolve) => setTimeout(resolve, 20))
if (name === 'exec' && !String(args.command ?? '').trim()) fail("missing 'command' parameter")
else if (args.fail) fail(args.fail)
else process.stdout.write(args.answer ?? `ran: ${args.command ?? input.slice(0, 200)}`)

function fail(text) {
  process.stderr.write(`${text}\n`)
  process.exitCode = 1
}
