// In charge of: recording what a job's page shows, inside the page itself: polling from outside would miss changes.
// Not in charge of: expectations.

/**
 * Runs in the page: records the text of its live region, which screen readers announce, and the position of its bar.
 */
export const RECORD_PROGRESS = `(() => {
  globalThis.told = []
  globalThis.percents = []
  new MutationObserver(() => {
    const text = document.querySelector('.standing [role=status]')?.textContent?.trim()
    if (text && text !== told.at(-1)) told.push(text)
    const percent = document.querySelector('[role=progressbar][aria-label=Transcode]')?.ariaValueNow
    if (percent && Number(percent) !== percents.at(-1)) percents.push(Number(percent))
  }).observe(document, { childList: true, characterData: true, subtree: true, attributeFilter: ['aria-valuenow'] })
})()`

export const isRising = (percents: readonly number[]): boolean =>
  percents.every((percent, at) => at === 0 || percent > percents[at - 1]!)
