import { describe, expect, it } from '@jest/globals'
import { limits } from '../../../../shared/contract/limits.ts'
import { searchedWords } from '../../../../shared/view/filter/searched-words.ts'
import { conditionsIn, filterFrom } from '../../../../shared/view/filter/turn-filter.ts'

const numbered = (count: number) => Array.from({ length: count }, (_, n) => `w${100 + n}`)

describe('the words of a search text', () => {
  it('are searched once, and a word that begins another word is left out', () => {
    expect(searchedWords(['a ab AB ab', 'a "a b" "a b"'])).toEqual(['"a b"', '"ab"*'])
    expect(searchedWords(['a '.repeat(400)])).toEqual(['"a"*'])
  })

  it('take a NUL as a blank, also in a phrase', () => {
    expect(searchedWords(['a\0b "c\0d"'])).toEqual(['"c d"', '"a"*', '"b"*'])
  })

  it('are refused beyond their number, in all texts of a filter together and in phrases', () => {
    const words = numbered(limits.searchWordsMax)
    expect(searchedWords(words)).toHaveLength(words.length)
    for (const text of [[...words, 'more'], [`"${words.join('-')} more"`]])
      expect(() => filterFrom(conditionsIn({ text }), 0)).toThrow(
        `where.text has ${words.length + 1} words: search for at most ${words.length} words`,
      )
  })

  it('are refused beyond their bytes', () => {
    const text = 'a'.repeat(limits.searchBytesMax + 1)
    expect(() => filterFrom(conditionsIn({ text }), 0)).toThrow(
      `where.text has ${text.length} bytes: search for at most ${limits.searchBytesMax} bytes`,
    )
  })
})
