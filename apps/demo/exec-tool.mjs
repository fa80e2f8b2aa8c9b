// The tool of incident I1. Without a command it prints the real tool's error. It runs nothing, as
// this is a demo.

let input = ''
process.stdin.setEncoding('utf8')
for await (const chunk of process.stdin) input += chunk
const { command } = JSON.parse(input)
if (typeof command !== 'string' || command.trim() === '') {
  process.stderr.write("missing 'command' parameter\n")
  process.exitCode = 1
} else {
  process.stdout.write(`would run: ${command}\n`)
}
