// In charge of: what the page of a job showed meanwhile, kept in the page itself: who looks from outside misses some of it.
// Not in charge of: what should have been shown.

/** To be run in the page: what its live region says, as a reader of the screen would hear it, and where its bar stands. */
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
