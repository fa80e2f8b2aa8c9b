// The files generated from the records of rules and thresholds are up to date in the tree.

import { describe, expect, it } from '@jest/globals'
import { ruleFiles } from '../../bin/generate-rules.ts'
import { providers } from '../../services/llm-gateway/performer/providers/providers.ts'
import { rules } from '../../services/loop-detector/rules.ts'

describe('the files that rules generate', () => {
  const files = ruleFiles()

  for (const { path, text, generated } of files)
    it(`${path} equals its records (if not, run \`make schemas\`)`, () => {
      expect(text).toBe(generated)
    })

  it('show each rule to editors and to readers', () => {
    for (const { generated } of files)
      for (const { name } of rules) expect(generated).toMatch(new RegExp(`["\`]${name}["\`]`))
  })

  it('show each provider and its key variable to editors', () => {
    const [schema] = files
    for (const { name, keyVariable } of providers) {
      expect(schema?.generated).toContain(`"${name}"`)
      expect(schema?.generated).toContain(`\${${keyVariable}}`)
    }
  })
})
