/** Whether the drag or paste contains files of the computer. */
export const hasFiles = (transfer: DataTransfer | null): transfer is DataTransfer =>
  transfer?.types.includes('Files') ?? false

/** Prevents the browser from opening a dropped file, even while the upload code is loading. */
export function stayForDrops(): void {
  for (const type of ['dragover', 'drop'] as const)
    window.addEventListener(type, event => hasFiles(event.dataTransfer) && event.preventDefault())
}
