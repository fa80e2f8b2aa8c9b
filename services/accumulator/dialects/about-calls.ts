// Whether a text is about calls: it shows one in an example, or mentions its mark.

const examplesElement =
  /<(\/?)(pre|code|blockquote|example|xmp|samp|details|textarea)\b[^>\n]{0,200}>/gi
/** The example of a call. After any other word, `a format` may be the work of the next call. */
const ofCalls =
  '[^\\n:：]{0,24}(?:aufruf|appel|llamad|chiamat|chamad|вызов|调用|呼び出し|호출|استدعاء)[^\\n:：]{0,8}'
const announcement = new RegExp(
  `(?:${[
    'for example|for instance|e\\.g\\.|such as|as follows|like this|looks? like',
    'an? (?:[\\w-]+ ){0,2}(?:example|sample)(?: [\\w ]{0,40})?|\\b(?:format|syntax|template|example)(?: is)?',
    `(?:例如|比如|示例|样例|如下|格式|模板|例えば|次のよう|以下のよう|の例|形式|예시|예를 들어|형식|다음과 같)(?:${ofCalls}|です|に|は|是|为|입니다|은|는|습니다)?`,
    `(?<!\\p{L})(?:например|пример|формат|образец|مثال|المثال|الصيغة|كالتالي|beispiel|exemple|ejemplo|esempio|exemplo|formato?)(?:${ofCalls})?\\s?`,
  ].join('|')})[*_]{0,3}[:：][*_]{0,3}$`,
  'iu',
)

/** `frame`: the text from a call's first mark on. `before`: the text in front of the frame. */
export function isAboutCalls(before: string, frame: string): boolean {
  const [mark = frame] = /^[^\s>\]={("':]{2,}/.exec(frame) ?? []
  const lastLine = before.trimEnd().split('\n').at(-1) ?? ''
  return (
    before.includes(mark) ||
    outsideFences(before).isOpen ||
    isInExamplesElement(before) ||
    announcement.test(lastLine.slice(-200).trimEnd())
  )
}

/** The text without fences, quotes, tables, indented lines, and code in lines. */
export function withoutExamples(text: string): string {
  return outsideFences(text)
    .lines.filter((line) => !/^(?: {0,3}[>|]| {4}|\t)/.test(line))
    .join('\n')
    .replaceAll(/(`{1,4})[^`\n]*\1/g, ' ')
}

/** `isOpen`: a fence is open after the last line. */
function outsideFences(text: string): { lines: string[]; isOpen: boolean } {
  let open: string | undefined
  const lines = text.split('\n').filter((line) => {
    const [, fence, rest = ''] = /^ {0,3}(`{3,}|~{3,})(.*)/s.exec(line) ?? []
    const wasOpen = open !== undefined
    if (fence === undefined) return !wasOpen
    if (open === undefined) open = fence
    else if (fence.startsWith(open) && rest.trim() === '') open = undefined
    return false
  })
  return { lines, isOpen: open !== undefined }
}

export function isExamplesElement(tag: string): boolean {
  return tag.match(examplesElement) !== null
}

function isInExamplesElement(before: string): boolean {
  let depth = 0
  for (const [, slash] of before.matchAll(examplesElement)) depth += slash === '' ? 1 : -1
  return depth > 0
}
