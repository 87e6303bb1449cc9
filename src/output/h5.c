#include "output/h5.h"

#if TALUS_HAVE_HDF5

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "output/file.h"

static hid_t file_type(tl_h5_type type) {
  switch (type) {
  case TL_H5_U8:
    return H5T_STD_U8LE;
  case TL_H5_I32:
    return H5T_STD_I32LE;
  case TL_H5_U32:
    return H5T_STD_U32LE;
  case TL_H5_I64:
    return H5T_STD_I64LE;
  case TL_H5_U64:
    return H5T_STD_U64LE;
  case TL_H5_F32:
    return H5T_IEEE_F32LE;
  case TL_H5_F64:
    break;
  }
  return H5T_IEEE_F64LE;
}

static hid_t memory_type(tl_h5_type type) {
  switch (type) {
  case TL_H5_U8:
    return H5T_NATIVE_UINT8;
  case TL_H5_I32:
    return H5T_NATIVE_INT32;
  case TL_H5_U32:
    return H5T_NATIVE_UINT32;
  case TL_H5_I64:
    return H5T_NATIVE_INT64;
  case TL_H5_U64:
    return H5T_NATIVE_UINT64;
  case TL_H5_F32:
    return H5T_NATIVE_FLOAT;
  case TL_H5_F64:
    break;
  }
  return H5T_NATIVE_DOUBLE;
}

size_t tl_h5_size(tl_h5_type type) {
  static const size_t size[] = {[TL_H5_U8] = 1,  [TL_H5_I32] = 4, [TL_H5_U32] = 4, [TL_H5_I64] = 8,
                                [TL_H5_U64] = 8, [TL_H5_F32] = 4, [TL_H5_F64] = 8};
  return size[type];
}

/* ---- in and out of the library --------------------------------------------------------------- */

/* HDF5 may have been built without thread safety, and worlds may be saved from several threads. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void enter(tl_h5_guard *guard) {
  pthread_mutex_lock(&turn);
  guard->known = H5Eget_auto2(H5E_DEFAULT, &guard->report, &guard->context) >= 0;
  if (guard->known)
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static void leave(const tl_h5_guard *guard) {
  H5Eclear2(H5E_DEFAULT);
  if (guard->known)
    H5Eset_auto2(H5E_DEFAULT, guard->report, guard->context);
  pthread_mutex_unlock(&turn);
}

static herr_t keep_innermost(unsigned n, const H5E_error2_t *error, void *text) {
  if (n == 0)
    snprintf(text, 160, "%s", error->desc ? error->desc : "no reason");
  return 0;
}

/* What HDF5 itself says on the last failure, in `text`. To be asked at once: the next call of HDF5,
 * be it to close something, forgets it. */
static const char *reason(char text[160]) {
  strcpy(text, "no reason given");
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, text);
  return text;
}

/* A file in memory cannot fail to grow but for want of memory. */
static talus_status write_failed(const char *what, const char *name) {
  char text[160];
  return tl_fail(TALUS_ERROR_MEMORY, "HDF5 could not make %s '%s' in memory: %s", what, name,
                 reason(text));
}

/* Every kind of handle; negative means that there is none. */
static void close_all(hid_t attribute, hid_t data, hid_t group, hid_t space, hid_t type) {
  if (attribute >= 0)
    H5Aclose(attribute);
  if (data >= 0)
    H5Dclose(data);
  if (group >= 0)
    H5Gclose(group);
  if (space >= 0)
    H5Sclose(space);
  if (type >= 0)
    H5Tclose(type);
}

static void close_list(hid_t list) {
  if (list >= 0)
    H5Pclose(list);
}

/* ---- writing --------------------------------------------------------------------------------- */

static hid_t list_without_times(hid_t class) {
  const hid_t list = H5Pcreate(class);
  if (list >= 0 && H5Pset_obj_track_times(list, 0) < 0) {
    H5Pclose(list);
    return H5I_INVALID_HID;
  }
  return list;
}

static hid_t create_in_memory(size_t expected, size_t user_block) {
  const hid_t create = list_without_times(H5P_FILE_CREATE), access = H5Pcreate(H5P_FILE_ACCESS);
  hid_t file = H5I_INVALID_HID;
  /* The memory grows by this much at a time; the name stands in HDF5's messages alone. */
  const size_t increment = expected < 65536 ? 65536 : expected;
  if (create >= 0 && access >= 0 && H5Pset_userblock(create, user_block) >= 0 &&
      H5Pset_fapl_core(access, increment, 0) >= 0 &&
      H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0)
    file = H5Fcreate("talus", H5F_ACC_TRUNC, create, access);
  close_list(create);
  close_list(access);
  return file;
}

talus_status tl_h5_create(tl_h5_out *out, size_t expected, size_t user_block) {
  enter(&out->guard);
  out->user_block = user_block;
  out->file = create_in_memory(expected, user_block);
  out->group_list = list_without_times(H5P_GROUP_CREATE);
  out->data_list = list_without_times(H5P_DATASET_CREATE);
  if (out->file >= 0 && out->group_list >= 0 && out->data_list >= 0)
    return TALUS_OK;
  return tl_h5_finish(out, write_failed("the file", "talus"), "", NULL, NULL);
}

/* The file's bytes where HDF5 keeps them; valid until the file is closed. */
static talus_status get_image(const tl_h5_out *out, unsigned char **image, size_t *bytes) {
  void *handle = NULL;
  ssize_t size;
  if (H5Fflush(out->file, H5F_SCOPE_GLOBAL) < 0 ||
      (size = H5Fget_file_image(out->file, NULL, 0)) < 0 ||
      H5Fget_vfd_handle(out->file, H5P_DEFAULT, &handle) < 0 || handle == NULL)
    return write_failed("the file", "talus");
  /* The handle of the core driver is the address of its pointer to the bytes; after a flush there
   * are at least as many as the file has. HDF5 does not count the user block. */
  *image = *(unsigned char **)handle;
  *bytes = out->user_block + (size_t)size;
  return TALUS_OK;
}

static talus_status write_image(const char *path, tl_file *keep, const void *image, size_t bytes) {
  if (keep == NULL)
    return tl_file_write(tl_file_given(), path, image, bytes);
  TL_TRY(tl_file_begin(keep, path));
  const talus_status status = tl_file_put(keep, image, bytes);
  if (status != TALUS_OK)
    tl_file_drop(keep);
  return status;
}

talus_status tl_h5_finish(tl_h5_out *out, talus_status status, const char *path, tl_file *keep,
                          tl_h5_seal_fn *seal) {
  unsigned char *image = NULL;
  size_t bytes = 0;
  if (status == TALUS_OK)
    status = get_image(out, &image, &bytes);
  if (status == TALUS_OK && seal != NULL)
    seal(image, bytes);
  if (status == TALUS_OK)
    status = write_image(path, keep, image, bytes);
  close_list(out->group_list);
  close_list(out->data_list);
  if (out->file >= 0)
    H5Fclose(out->file);
  leave(&out->guard);
  return status;
}

talus_status tl_h5_group(tl_h5_out *out, const char *name) {
  const hid_t group = H5Gcreate2(out->file, name, H5P_DEFAULT, out->group_list, H5P_DEFAULT);
  if (group < 0)
    return write_failed("group", name);
  H5Gclose(group);
  return TALUS_OK;
}

talus_status tl_h5_write(tl_h5_out *out, const char *name, tl_h5_type type, size_t rows,
                         size_t columns, const void *data) {
  const hsize_t size[2] = {rows, columns};
  const hid_t space = H5Screate_simple(columns == 1 ? 1 : 2, size, NULL);
  hid_t set = H5I_INVALID_HID;
  if (space >= 0)
    set = H5Dcreate2(out->file, name, file_type(type), space, H5P_DEFAULT, out->data_list,
                     H5P_DEFAULT);
  talus_status status = TALUS_OK;
  if (set < 0 ||
      (rows > 0 && H5Dwrite(set, memory_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0))
    status = write_failed("dataset", name);
  close_all(H5I_INVALID_HID, set, H5I_INVALID_HID, space, H5I_INVALID_HID);
  return status;
}

static hid_t text_type(size_t width, H5T_str_t end, H5T_cset_t characters) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  if (type >= 0 && (H5Tset_size(type, width) < 0 || H5Tset_strpad(type, end) < 0 ||
                    H5Tset_cset(type, characters) < 0)) {
    H5Tclose(type);
    return H5I_INVALID_HID;
  }
  return type;
}

static talus_status write_padded(tl_h5_out *out, const char *name, size_t rows, size_t width,
                                 const char *data) {
  const hsize_t size[1] = {rows};
  const hid_t type = text_type(width, H5T_STR_NULLTERM, H5T_CSET_UTF8),
              space = H5Screate_simple(1, size, NULL);
  hid_t set = H5I_INVALID_HID;
  if (type >= 0 && space >= 0)
    set = H5Dcreate2(out->file, name, type, space, H5P_DEFAULT, out->data_list, H5P_DEFAULT);
  talus_status status = TALUS_OK;
  if (set < 0 || (rows > 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0))
    status = write_failed("dataset", name);
  close_all(H5I_INVALID_HID, set, H5I_INVALID_HID, space, type);
  return status;
}

talus_status tl_h5_write_texts(tl_h5_out *out, const char *name, size_t rows, tl_h5_text_fn *text,
                               const void *context) {
  size_t width = 1;
  for (size_t i = 0; i < rows; ++i) {
    const char *row = text(context, i);
    const size_t length = row ? strlen(row) : 0;
    width = length + 1 > width ? length + 1 : width; /* with the zero that ends it */
  }
  if (rows > SIZE_MAX / width)
    return tl_fail(TALUS_ERROR_MEMORY, "out of memory: %zu names of up to %zu bytes", rows, width);
  void *data = NULL;
  const size_t bytes = rows * width;
  TL_TRY(tl_resize(&data, 0, bytes));
  for (size_t i = 0; i < rows; ++i) {
    const char *row = text(context, i);
    const size_t length = row ? strlen(row) : 0;
    char *to = (char *)data + i * width;
    memset(to + length, 0, width - length);
    if (length > 0)
      memcpy(to, row, length);
  }
  const talus_status status = write_padded(out, name, rows, width, data);
  (void)tl_resize(&data, bytes, 0); /* freeing cannot fail */
  return status;
}

talus_status tl_h5_link(tl_h5_out *out, const char *name, const char *target) {
  if (H5Lcreate_hard(out->file, target, out->file, name, H5P_DEFAULT, H5P_DEFAULT) < 0)
    return write_failed("link", name);
  return TALUS_OK;
}

static talus_status put_attribute(tl_h5_out *out, const char *group, const char *name, hid_t stored,
                                  hid_t native, size_t n, const void *data) {
  const hsize_t size[1] = {n};
  const hid_t space = n == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, size, NULL);
  const hid_t at = H5Gopen2(out->file, group, H5P_DEFAULT);
  hid_t attribute = H5I_INVALID_HID;
  if (space >= 0 && at >= 0 && stored >= 0)
    attribute = H5Acreate2(at, name, stored, space, H5P_DEFAULT, H5P_DEFAULT);
  talus_status status = TALUS_OK;
  if (attribute < 0 || H5Awrite(attribute, native, data) < 0)
    status = write_failed("attribute", name);
  close_all(attribute, H5I_INVALID_HID, at, space, H5I_INVALID_HID);
  return status;
}

talus_status tl_h5_attribute(tl_h5_out *out, const char *group, const char *name, tl_h5_type type,
                             size_t n, const void *data) {
  return put_attribute(out, group, name, file_type(type), memory_type(type), n, data);
}

talus_status tl_h5_attribute_text(tl_h5_out *out, const char *group, const char *name,
                                  const char *text) {
  const size_t length = strlen(text);
  const hid_t type = text_type(length > 0 ? length : 1, H5T_STR_NULLPAD, H5T_CSET_ASCII);
  const talus_status status = put_attribute(out, group, name, type, type, 1, text);
  close_all(H5I_INVALID_HID, H5I_INVALID_HID, H5I_INVALID_HID, H5I_INVALID_HID, type);
  return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

talus_status tl_h5_open(tl_h5_in *in, const char *path, uint64_t bytes) {
  in->path = path;
  in->bytes = bytes;
  in->file = H5I_INVALID_HID;
  enter(&in->guard);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (access >= 0 && H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0) {
#if H5_VERSION_GE(1, 10, 7)
    /* Locks fail on some network file systems, and a file that is complete or absent needs none. */
    H5Pset_file_locking(access, 0, 1);
#endif
    in->file = H5Fopen(path, H5F_ACC_RDONLY, access);
  }
  talus_status status = TALUS_OK;
  char text[160];
  if (in->file < 0)
    status =
        tl_fail(TALUS_ERROR_FORMAT, "%s: is not a readable HDF5 file (%s)", path, reason(text));
  close_list(access);
  if (status != TALUS_OK)
    leave(&in->guard);
  return status;
}

void tl_h5_close(tl_h5_in *in) {
  if (in->file >= 0)
    H5Fclose(in->file);
  in->file = H5I_INVALID_HID;
  leave(&in->guard);
}

/* Every step of the path must be a hard link: soft and external ones lead elsewhere. */
static bool is_hard_path(hid_t file, const char *name) {
  char part[256];
  const size_t length = strlen(name);
  if (length >= sizeof part)
    return false;
  for (size_t i = 1; i <= length; ++i) {
    if (name[i] != '/' && name[i] != '\0')
      continue;
    memcpy(part, name, i);
    part[i] = '\0';
    H5L_info_t info;
    if (H5Lexists(file, part, H5P_DEFAULT) <= 0 ||
        H5Lget_info(file, part, &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_HARD)
      return false;
  }
  return true;
}

bool tl_h5_has(tl_h5_in *in, const char *name) { return is_hard_path(in->file, name); }

/* NULL, or what is wrong with the way a dataset is stored. */
static const char *storage_problem(hid_t set) {
  const hid_t list = H5Dget_create_plist(set);
  if (list < 0)
    return "has no creation properties";
  const char *problem = NULL;
  if (H5Pget_layout(list) != H5D_CONTIGUOUS)
    problem = "is not stored in one piece";
  else if (H5Pget_nfilters(list) != 0)
    problem = "is stored through a filter";
  else if (H5Pget_external_count(list) != 0)
    problem = "is stored in another file";
  H5Pclose(list);
  return problem;
}

static bool has_type(hid_t set, tl_h5_type type) {
  const hid_t stored = H5Dget_type(set);
  if (stored < 0)
    return false;
  const bool same = H5Tequal(stored, file_type(type)) > 0;
  H5Tclose(stored);
  return same;
}

/* *rows, or false where the dataset is not a table of that many columns. */
static bool get_rows(hid_t set, size_t columns, hsize_t *rows) {
  const hid_t space = H5Dget_space(set);
  if (space < 0)
    return false;
  hsize_t size[2] = {0, 1};
  const int rank = H5Sget_simple_extent_ndims(space);
  const bool good = H5Sget_simple_extent_type(space) == H5S_SIMPLE &&
                    rank == (columns == 1 ? 1 : 2) &&
                    H5Sget_simple_extent_dims(space, size, NULL) == rank && size[1] == columns;
  H5Sclose(space);
  *rows = size[0];
  return good;
}

/* NULL, or what is wrong with the dataset. */
static const char *dataset_problem(const tl_h5_in *in, hid_t set, tl_h5_type type, size_t columns,
                                   size_t *rows) {
  const char *problem = storage_problem(set);
  if (problem)
    return problem;
  if (!has_type(set, type))
    return "has another type of number than expected";
  hsize_t n;
  if (!get_rows(set, columns, &n))
    return "has another shape than expected";
  const uint64_t row_bytes = columns * tl_h5_size(type);
  if (n > in->bytes / row_bytes)
    return "says it is larger than the file";
  if (n > 0) {
    const haddr_t at = H5Dget_offset(set);
    if (H5Dget_storage_size(set) != n * row_bytes || at == HADDR_UNDEF ||
        at > in->bytes - n * row_bytes)
      return "is not all in the file";
  }
  *rows = (size_t)n;
  return NULL;
}

static talus_status read_failed(const tl_h5_in *in, const char *name, const char *problem) {
  return tl_fail(TALUS_ERROR_FORMAT, "%s: dataset '%s' %s", in->path, name, problem);
}

/* Opens and checks; *set is to be closed on success. */
static talus_status open_dataset(tl_h5_in *in, const char *name, tl_h5_type type, size_t columns,
                                 size_t *rows, hid_t *set) {
  if (!is_hard_path(in->file, name))
    return read_failed(in, name, "is missing");
  *set = H5Dopen2(in->file, name, H5P_DEFAULT);
  if (*set < 0)
    return read_failed(in, name, "cannot be opened");
  const char *problem = dataset_problem(in, *set, type, columns, rows);
  if (problem == NULL)
    return TALUS_OK;
  H5Dclose(*set);
  return read_failed(in, name, problem);
}

talus_status tl_h5_count(tl_h5_in *in, const char *name, tl_h5_type type, size_t columns,
                         size_t *rows) {
  hid_t set;
  TL_TRY(open_dataset(in, name, type, columns, rows, &set));
  H5Dclose(set);
  return TALUS_OK;
}

talus_status tl_h5_read(tl_h5_in *in, const char *name, tl_h5_type type, size_t rows,
                        size_t columns, void *data) {
  hid_t set;
  size_t there = 0;
  TL_TRY(open_dataset(in, name, type, columns, &there, &set));
  talus_status status = TALUS_OK;
  if (there != rows)
    status = tl_fail(TALUS_ERROR_FORMAT, "%s: dataset '%s' has %zu rows, expected %zu", in->path,
                     name, there, rows);
  else if (rows > 0 && H5Dread(set, memory_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
    status = read_failed(in, name, "cannot be read");
  H5Dclose(set);
  return status;
}

#endif
