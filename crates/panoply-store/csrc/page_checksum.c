/*
** A VFS for SQLite, named "panoply-pages", that keeps a checksum in the last eight bytes of every
** page of a database file and verifies it whenever a page is read from that file. A page that does
** not agree is SQLITE_IOERR_DATA: never an answer.
**
** It stands on the system's default VFS and changes only how main database files are read and
** written. Locks, shared memory, the write-ahead log and everything else pass through. SQLite
** itself protects the frames of a write-ahead log with checksums when it recovers one.
**
** A file takes part when its header reserves exactly eight bytes a page (offset 20). Connections
** that are opened through this VFS ask SQLite for that, so a new file has them from its first page;
** an older one gets them by VACUUM. Other files are read and written as they are.
**
** In memory, and so in the write-ahead log, the eight bytes are zero. Another program that only
** reads a database may still write the pages of a log into it when it closes; those then carry zero,
** which says that nobody has vouched for the page yet. Pages that it changed itself disagree.
**
** The VFS is registered before main() runs, so that no Rust code has to call C.
*/
#include <stdint.h>
#include <string.h>

#include "sqlite3.h"

#define VFS_NAME "panoply-pages"
#define RESERVED 8

/* Stands before the file of the VFS below. */
typedef struct PageFile {
  sqlite3_file base;
  const char *name;
  sqlite3_int64 checked; /* whether the header reserves the bytes */
} PageFile;

#define BELOW(file) ((sqlite3_file *)(((PageFile *)(file)) + 1))

static sqlite3_vfs pages_vfs;

/*
** Each step is a bijection of the hash and of the word, so a change within one word is always seen;
** any other is missed once in 2^64. The offset is part of it: a page that was written to another
** place is seen too. panoply-store/src/page_checksums.rs computes the same.
*/
static uint64_t checksum(const unsigned char *page, int length, sqlite3_int64 offset) {
  uint64_t hash = UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)offset;
  int at;
  for (at = 0; at < length; at += 8) {
    uint64_t word;
    memcpy(&word, page + at, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
    hash ^= hash >> 32;
  }
  return hash == 0 ? 1 : hash;
}

static void put(unsigned char *out, uint64_t hash) {
  int at;
  for (at = 0; at < 8; at++) out[at] = (unsigned char)(hash >> (8 * at));
}

static int is_page(int amount, sqlite3_int64 offset) {
  return amount >= 512 && (amount & (amount - 1)) == 0 && offset % amount == 0;
}

static void look_at_header(PageFile *file, const unsigned char *bytes, int amount,
                           sqlite3_int64 offset) {
  if (offset == 0 && amount >= 100 && memcmp(bytes, "SQLite format 3", 16) == 0) {
    file->checked = bytes[20] == RESERVED;
  }
}

static int pages_read(sqlite3_file *base, void *buffer, int amount, sqlite3_int64 offset) {
  PageFile *file = (PageFile *)base;
  unsigned char *bytes = (unsigned char *)buffer;
  unsigned char expected[RESERVED], *found = bytes + amount - RESERVED;
  static const unsigned char nobody[RESERVED];
  int status = BELOW(base)->pMethods->xRead(BELOW(base), buffer, amount, offset);
  if (status != SQLITE_OK) return status;
  look_at_header(file, bytes, amount, offset);
  if (!file->checked || !is_page(amount, offset)) return SQLITE_OK;
  if (memcmp(found, nobody, RESERVED) == 0) return SQLITE_OK;
  put(expected, checksum(bytes, amount - RESERVED, offset));
  if (memcmp(found, expected, RESERVED) == 0) {
    memset(found, 0, RESERVED);
    return SQLITE_OK;
  }
  sqlite3_log(SQLITE_IOERR_DATA, "checksum mismatch in page %lld of \"%s\"",
              offset / amount + 1, file->name ? file->name : "");
  return SQLITE_IOERR_DATA;
}

static int pages_write(sqlite3_file *base, const void *buffer, int amount, sqlite3_int64 offset) {
  PageFile *file = (PageFile *)base;
  /* The reserved bytes are the VFS's to write, in the page cache too. */
  unsigned char *bytes = (unsigned char *)buffer;
  int status, sealed;
  look_at_header(file, bytes, amount, offset);
  sealed = file->checked && is_page(amount, offset);
  if (sealed) put(bytes + amount - RESERVED, checksum(bytes, amount - RESERVED, offset));
  status = BELOW(base)->pMethods->xWrite(BELOW(base), buffer, amount, offset);
  if (sealed) memset(bytes + amount - RESERVED, 0, RESERVED);
  return status;
}

static int pages_close(sqlite3_file *f) { return BELOW(f)->pMethods->xClose(BELOW(f)); }
static int pages_truncate(sqlite3_file *f, sqlite3_int64 n) {
  return BELOW(f)->pMethods->xTruncate(BELOW(f), n);
}
static int pages_sync(sqlite3_file *f, int flags) {
  return BELOW(f)->pMethods->xSync(BELOW(f), flags);
}
static int pages_size(sqlite3_file *f, sqlite3_int64 *n) {
  return BELOW(f)->pMethods->xFileSize(BELOW(f), n);
}
static int pages_lock(sqlite3_file *f, int level) {
  return BELOW(f)->pMethods->xLock(BELOW(f), level);
}
static int pages_unlock(sqlite3_file *f, int level) {
  return BELOW(f)->pMethods->xUnlock(BELOW(f), level);
}
static int pages_reserved(sqlite3_file *f, int *out) {
  return BELOW(f)->pMethods->xCheckReservedLock(BELOW(f), out);
}
static int pages_control(sqlite3_file *f, int op, void *argument) {
  return BELOW(f)->pMethods->xFileControl(BELOW(f), op, argument);
}
static int pages_sector(sqlite3_file *f) { return BELOW(f)->pMethods->xSectorSize(BELOW(f)); }
static int pages_traits(sqlite3_file *f) {
  /* A part of a page has no checksum. */
  return BELOW(f)->pMethods->xDeviceCharacteristics(BELOW(f)) & ~SQLITE_IOCAP_SUBPAGE_READ;
}
static int pages_shm_map(sqlite3_file *f, int region, int size, int extend, void volatile **out) {
  return BELOW(f)->pMethods->xShmMap(BELOW(f), region, size, extend, out);
}
static int pages_shm_lock(sqlite3_file *f, int offset, int n, int flags) {
  return BELOW(f)->pMethods->xShmLock(BELOW(f), offset, n, flags);
}
static void pages_shm_barrier(sqlite3_file *f) { BELOW(f)->pMethods->xShmBarrier(BELOW(f)); }
static int pages_shm_unmap(sqlite3_file *f, int remove) {
  return BELOW(f)->pMethods->xShmUnmap(BELOW(f), remove);
}
/* Mapped memory would be read without a check. */
static int pages_fetch(sqlite3_file *f, sqlite3_int64 offset, int amount, void **out) {
  (void)f, (void)offset, (void)amount;
  *out = 0;
  return SQLITE_OK;
}
static int pages_unfetch(sqlite3_file *f, sqlite3_int64 offset, void *page) {
  (void)f, (void)offset, (void)page;
  return SQLITE_OK;
}

static const sqlite3_io_methods pages_methods = {
    3,              pages_close,    pages_read,      pages_write,      pages_truncate,
    pages_sync,     pages_size,     pages_lock,      pages_unlock,     pages_reserved,
    pages_control,  pages_sector,   pages_traits,    pages_shm_map,    pages_shm_lock,
    pages_shm_barrier, pages_shm_unmap, pages_fetch, pages_unfetch};

static int pages_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags,
                      int *out_flags) {
  sqlite3_vfs *below = (sqlite3_vfs *)vfs->pAppData;
  PageFile *file = (PageFile *)base;
  int status;
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return below->xOpen(below, name, base, flags, out_flags);
  memset(file, 0, sizeof(*file));
  status = below->xOpen(below, name, BELOW(base), flags, out_flags);
  if (status == SQLITE_OK) {
    file->name = name;
    base->pMethods = &pages_methods;
  }
  return status;
}

/* Asks for the reserved bytes on each connection that this VFS opened. */
static int reserve(sqlite3 *db, char **message, const struct sqlite3_api_routines *api) {
  sqlite3_vfs *vfs = 0;
  (void)message, (void)api;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_VFS_POINTER, &vfs) == SQLITE_OK &&
      vfs == &pages_vfs) {
    int bytes = RESERVED;
    sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
  }
  return SQLITE_OK;
}

#if !defined(__GNUC__) && !defined(__clang__)
#error "call pages_register before main() in the way of this compiler"
#endif
__attribute__((constructor)) static void pages_register(void) {
  sqlite3_vfs *below;
  if (sqlite3_initialize() != SQLITE_OK) return;
  below = sqlite3_vfs_find(0);
  if (below == 0 || below->iVersion < 2) return;
  /* Only xOpen looks at pAppData, here and in the VFS below. */
  pages_vfs = *below;
  pages_vfs.pNext = 0;
  pages_vfs.zName = VFS_NAME;
  pages_vfs.pAppData = below;
  pages_vfs.szOsFile = below->szOsFile + (int)sizeof(PageFile);
  pages_vfs.xOpen = pages_open;
  if (sqlite3_vfs_register(&pages_vfs, 0) == SQLITE_OK) {
    sqlite3_auto_extension((void (*)(void))reserve);
  }
}
