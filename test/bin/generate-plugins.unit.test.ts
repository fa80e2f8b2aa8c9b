// The plug-ins of hosts in the tree have the hooks of `weir hooks install`.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'
import { pluginFiles } from '../../bin/generate-plugins.ts'

describe('the files of plug-ins', () => {
  for (const [path, generated] of pluginFiles())
    it(`${path} equals the hooks of its host (if not, run \`make schemas\`)`, () => {
      const text = readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')
      expect(text).toBe(generated)
    })

  it.each(['claude-code', 'codex'])(
    'start Weir in %s at a prompt, and at no other event',
    (host) => {
      const text = pluginFiles().get(`integrations/${host}/hooks/hooks.json`) ?? ''
      const { hooks } = JSON.parse(text) as { hooks: Record<string, unknown> }
      const starting = Object.keys(hooks).filter((event) =>
        JSON.stringify(hooks[event]).includes('hooks start'),
      )
      expect(starting).toEqual(['UserPromptSubmit'])
    },
  )

  it.each(['claude-code', 'codex', 'copilot', 'gemini-cli'])(
    'name the plug-in of %s, and no hooks, as the remedy',
    (host) => {
      const text = pluginFiles().get(`integrations/${host}/hooks/hooks.json`) ?? ''
      expect(text).toMatch(/remove its plug-in with: \w+ \w+ (uninstall|remove) weir/)
      expect(text).not.toContain('weir hooks remove')
    },
  )
})
