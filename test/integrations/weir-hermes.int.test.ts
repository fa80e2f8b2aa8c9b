// The plug-in of Hermes. test/hosts runs it in Hermes itself.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'

it('denies each call of Hermes without an answer of Weir, and shows advice and ends', async () => {
  const file = join(import.meta.dirname, 'weir_hermes.py')
  const { stdout } = await promisify(execFile)('python3', ['-B', file]) // no __pycache__ in the package
  expect(stdout.trim().split('\n')).toEqual([
    'no opinion: null',
    'a result: [{"tool_name": "terminal", "tool_input": {"command": "ls"}, "tool_use_id": "c1", "tool_response": "hi"}]',
    'its advice, once: ["hi\\n\\nTry more.", null]',
    'a refused call, in each request: ["the model gets: Unknown tool\\n\\nTry more.", "the model gets: Unknown tool\\n\\nTry more."]',
    'its reports: 1',
    'a denial: {"action": "block", "message": "no"}',
    'a request after the end: "Weir ended this turn"',
    'a call after the end: "Weir ended this turn"',
    'a request of anthropic_messages: "Weir ended this turn"',
    'a request of codex_responses: "Weir ended this turn"',
    'a request of bedrock_converse: "Weir ended this turn"',
    'a request of codex_app_server: "the model gets: Unknown tool"',
    'the answer {: "block"',
    'the answer []: "block"',
    'the answer null: "block"',
    'the answer {"hookSpecificOutput": 1}: "block"',
    'an event of another form: "block"',
    'the mark of another server: "block"',
    'the mark weir/2: "block"',
    'the mark weir/1 0: "block"',
    'a mark without the proof of this user\'s Weir: "block"',
    'status 503: "Weir does not answer, so this was stopped (status 503). Start weir proxy, or uninstall Weir\'s plug-in."',
    'a request without a server: "Weir does not answer, so this was stopped (port is taken). Start weir proxy, or uninstall Weir\'s plug-in."',
    'a call without a server: "block"',
  ])
})
