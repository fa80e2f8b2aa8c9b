import { describe, expect, it } from '@jest/globals'
import { readsAsError } from '../../../shared/transcript/json-fields.ts'

describe('a result of Codex', () => {
  const header = (ending: string) =>
    `Chunk ID: c7089f\nWall time: 0.0512 seconds\n${ending}Original token count: 3\nOutput:\nfine\n`
  it.each([
    [header('Process exited with code 2\n'), true],
    [header('Process exited with code -1\n'), true],
    ['Exit code: 1\nWall time: 0.1 seconds\nOutput:\nfine\n', true],
    [header('Process exited with code 0\n'), false],
    [header('Process running with session ID 4711\n'), false],
    ['Exit code: 0\nWall time: 0.1 seconds\nOutput:\nfine\n', false],
    ['apply_patch verification failed: Failed to find expected lines in /w/b.rb', true],
    ['write_stdin failed: Unknown process id 12', true],
    ['exec_command failed for `mkae`: No such file or directory', true],
    ['apply_patch verification passed', false],
    ['The call write_stdin failed once, and then it ran.', false],
  ])('%j is a failure: %s', (text, isFailure) => expect(readsAsError(text)).toBe(isFailure))
})
