/**
 * The parts of the File System Access API that not every browser has
 * (https://wicg.github.io/file-system-access/).
 */

interface DataTransferItem {
  getAsFileSystemHandle?(): Promise<FileSystemHandle | null>
}

interface FileSystemHandle {
  queryPermission?(descriptor: { mode: 'read' }): Promise<PermissionState>
  requestPermission?(descriptor: { mode: 'read' }): Promise<PermissionState>
}

interface Window {
  showOpenFilePicker?(options: { multiple: boolean }): Promise<FileSystemFileHandle[]>
  showDirectoryPicker?(): Promise<FileSystemDirectoryHandle>
}
