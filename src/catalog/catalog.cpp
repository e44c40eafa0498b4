#include "catalog/catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/nearest.h"
#include "catalog/reader.h"

namespace trnsim::catalog {
namespace {

namespace fs = std::filesystem;

std::string plain(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool is_called(const Record& record, std::string_view name) {
  const std::string wanted = plain(name);
  return plain(record.name) == wanted ||
         std::any_of(record.aliases.begin(), record.aliases.end(),
                     [&](const std::string& alias) { return plain(alias) == wanted; });
}

// inf1.xlarge, inf1.2xlarge, inf1.24xlarge: runs of digits compare as numbers and stand after
// letters.
bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      unsigned long x = 0, y = 0;
      for (; i < a.size() && is_digit(a[i]); ++i)
        x = x * 10 + static_cast<unsigned long>(a[i] - '0');
      for (; j < b.size() && is_digit(b[j]); ++j)
        y = y * 10 + static_cast<unsigned long>(b[j] - '0');
      if (x != y) return x < y;
    } else if (a[i] != b[j]) {
      return is_digit(a[i]) == is_digit(b[j]) ? a[i] < b[j] : is_digit(b[j]);
    } else {
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

[[noreturn]] void unknown_name(std::string_view kind, std::string_view name,
                               const std::vector<const Record*>& known) {
  std::vector<std::string> names, spellings;
  for (const Record* record : known) {
    names.push_back(record->name);
    spellings.push_back(record->name);
    spellings.insert(spellings.end(), record->aliases.begin(), record->aliases.end());
  }
  const std::string nearest = nearest_name(plain(name), spellings);
  config_error("There is no {} called \"{}\"{} Known: {}.", kind, name,
               nearest.empty() ? "." : fmt::format("; did you mean \"{}\"?", nearest),
               fmt::join(names, ", "));
}

template <class T>
const T& find_in(const std::vector<T>& all, std::string_view kind, std::string_view name) {
  for (const T& record : all)
    if (is_called(record, name)) return record;
  std::vector<const Record*> known;
  for (const T& record : all) known.push_back(&record);
  unknown_name(kind, name, known);
}

std::vector<fs::path> toml_files(const fs::path& directory) {
  if (!fs::is_directory(directory))
    config_error(
        "{}: the hardware catalogue has no such directory; set TRNSIM_HARDWARE or pass --hardware",
        directory.string());
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return natural_less(a.stem().string(), b.stem().string());
  });
  return files;
}

template <class T>
T read_record(const fs::path& file, const Schema& schema) {
  Document document = read_document(file, schema, Strictness::kCatalogue);
  T record;
  static_cast<Record&>(record) = std::move(document.record);
  fill(&record, schema, record.facts, record.file);
  return record;
}

template <class T>
std::vector<T> read_directory(const fs::path& directory, const Schema& schema) {
  std::vector<T> records;
  for (const fs::path& file : toml_files(directory))
    records.push_back(read_record<T>(file, schema));
  return records;
}

std::vector<Fact> under_core(std::vector<Fact> facts) {
  for (Fact& fact : facts) fact.path = "core." + fact.path;
  return facts;
}

void keep_core(std::vector<Fact>& facts, bool keep) {
  std::erase_if(facts, [&](const Fact& fact) { return fact.path.starts_with("core.") != keep; });
}

// A chip is its core's facts, the facts of what it is based on, and then its own.
Chip make_chip(Document document, const Chip* base, const std::vector<Core>& cores) {
  const Schema& schema = chip_schema();
  std::vector<Fact> facts = base ? base->facts : std::vector<Fact>{};
  const Fact* own_core = document.record.fact("neuroncore");
  const bool other_core =
      own_core && (!base || std::get<std::string>(own_core->value) != base->neuroncore);
  if (other_core) keep_core(facts, false);
  override_facts(facts, document.record.facts, schema);

  const auto named = std::find_if(facts.begin(), facts.end(),
                                  [](const Fact& f) { return f.path == "neuroncore"; });
  if (named == facts.end())
    config_error(
        "{}:1:1: neuroncore is missing: which NeuronCore, such as \"neuroncore_v3\" (or say base = "
        "\"trainium2\" and state only what differs)",
        document.record.file);
  const Core& core = find_in(cores, "NeuronCore", std::get<std::string>(named->value));
  if (!base || other_core) {
    std::vector<Fact> all = under_core(core.facts);
    override_facts(all, facts, schema);
    facts = std::move(all);
  }

  Chip chip;
  static_cast<Record&>(chip) = std::move(document.record);
  chip.facts = std::move(facts);
  static_cast<Record&>(chip.core) = core;
  fill(&chip, schema, chip.facts, chip.file);
  chip.core.facts = chip.facts;
  keep_core(chip.core.facts, true);
  for (Fact& fact : chip.core.facts) fact.path = fact.path.substr(std::string_view("core.").size());
  return chip;
}

void check_reference(const Record& from, std::string_view path,
                     const std::optional<std::string>& name, const auto& all) {
  if (!name ||
      std::any_of(all.begin(), all.end(), [&](const Record& r) { return is_called(r, *name); }))
    return;
  const Fact* fact = from.fact(path);
  config_error("{}:{}:1: {} is \"{}\", which the catalogue does not have", from.file,
               fact ? fact->line : 1, path, *name);
}

void check_references(const Catalog& catalog) {
  for (const Instance& instance : catalog.instances) {
    check_reference(instance, "chip", instance.chip, catalog.chips);
    check_reference(instance, "gpu", instance.gpu, catalog.gpus);
    if (instance.chip.has_value() == instance.gpu.has_value())
      config_error("{}:1:1: an instance has either a chip or a gpu", instance.file);
  }
  for (const Training& training : catalog.trainings) {
    check_reference(training, "chip", training.chip, catalog.chips);
    check_reference(training, "gpu", training.gpu, catalog.gpus);
  }
  for (const System& system : catalog.systems) {
    check_reference(system, "chip", system.chip, catalog.chips);
    check_reference(system, "gpu", system.gpu, catalog.gpus);
    check_reference(system, "instance", system.instance, catalog.instances);
  }
  for (const Fabric& fabric : catalog.fabrics) {
    for (const std::string& name : fabric.serves) {
      const bool is_chip = std::any_of(catalog.chips.begin(), catalog.chips.end(),
                                       [&](const Chip& chip) { return is_called(chip, name); });
      if (!is_chip) check_reference(fabric, "serves", name, catalog.gpus);
    }
  }
  for (const Cluster& cluster : catalog.clusters) {
    check_reference(cluster, "chip", cluster.chip, catalog.chips);
    check_reference(cluster, "gpu", cluster.gpu, catalog.gpus);
    check_reference(cluster, "system", cluster.system, catalog.systems);
    check_reference(cluster, "instance", cluster.instance, catalog.instances);
  }
}

}  // namespace

const Core& Catalog::core(std::string_view name) const {
  return find_in(cores, "NeuronCore", name);
}
const Chip& Catalog::chip(std::string_view name) const { return find_in(chips, "chip", name); }
const Instance& Catalog::instance(std::string_view name) const {
  return find_in(instances, "instance", name);
}
const System& Catalog::system(std::string_view name) const {
  return find_in(systems, "system", name);
}
const Cluster& Catalog::cluster(std::string_view name) const {
  return find_in(clusters, "cluster", name);
}
const Gpu& Catalog::gpu(std::string_view name) const { return find_in(gpus, "GPU", name); }

const Fabric* Catalog::fabric_of(std::string_view accelerator) const {
  for (const Fabric& fabric : fabrics)
    for (const std::string& served : fabric.serves)
      if (plain(served) == plain(accelerator)) return &fabric;
  return nullptr;
}

const Training& Catalog::training(std::string_view accelerator) const {
  for (const Training& record : trainings)
    if (plain(record.chip ? *record.chip : record.gpu.value_or("")) == plain(accelerator))
      return record;
  std::vector<std::string> known;
  for (const Training& record : trainings)
    known.push_back(record.chip ? *record.chip : record.gpu.value_or(""));
  throw Error(Fault::kMissingSpec,
              fmt::format("hardware/training/ has no record of {}: nothing says how much of its "
                          "speed training reaches. Known: {}",
                          accelerator, fmt::join(known, ", ")));
}

std::vector<const Record*> Catalog::records() const {
  std::vector<const Record*> all;
  auto add = [&](const auto& some) {
    for (const Record& record : some) all.push_back(&record);
  };
  add(chips);
  add(cores);
  add(instances);
  add(systems);
  add(clusters);
  add(gpus);
  add(fabrics);
  add(trainings);
  return all;
}

const Record& Catalog::record(std::string_view name) const {
  const std::vector<const Record*> all = records();
  for (const Record* record : all)
    if (is_called(*record, name)) return *record;
  unknown_name("hardware", name, all);
}

const Record& Catalog::record(std::string_view name, std::string_view what,
                              std::initializer_list<std::string_view> kinds) const {
  std::vector<const Record*> some = records();
  std::erase_if(some, [&](const Record* record) {
    return std::ranges::find(kinds, record->kind) == kinds.end();
  });
  for (const Record* record : some)
    if (is_called(*record, name)) return *record;
  unknown_name(what, name, some);
}

Catalog load(const fs::path& hardware_dir) {
  Catalog catalog;
  catalog.directory = hardware_dir;
  catalog.cores = read_directory<Core>(hardware_dir / "cores", core_schema());
  for (const fs::path& file : toml_files(hardware_dir / "chips"))
    catalog.chips.push_back(make_chip(read_document(file, chip_schema(), Strictness::kCatalogue),
                                      nullptr, catalog.cores));
  catalog.accuracy = load_accuracy(hardware_dir / "accuracy.toml");
  for (Chip& chip : catalog.chips) chip.accuracy = catalog.accuracy;
  catalog.instances = read_directory<Instance>(hardware_dir / "instances", instance_schema());
  catalog.systems = read_directory<System>(hardware_dir / "systems", system_schema());
  catalog.clusters = read_directory<Cluster>(hardware_dir / "clusters", cluster_schema());
  catalog.gpus = read_directory<Gpu>(hardware_dir / "gpus", gpu_schema());
  catalog.fabrics = read_directory<Fabric>(hardware_dir / "fabrics", fabric_schema());
  catalog.trainings = read_directory<Training>(hardware_dir / "training", training_schema());
  check_references(catalog);
  return catalog;
}

Chip load_chip_file(const fs::path& file, const Catalog& catalog) {
  if (!fs::exists(file)) config_error("{}: there is no such file", file.string());
  Document document = read_document(file, chip_schema(), Strictness::kUserFile);
  const Chip* base = document.base.empty() ? nullptr : &catalog.chip(document.base);
  Chip chip = make_chip(std::move(document), base, catalog.cores);
  chip.accuracy = catalog.accuracy;
  return chip;
}

Fabric load_fabric_file(const fs::path& file) {
  if (!fs::exists(file)) config_error("{}: there is no such file", file.string());
  Document document = read_document(file, fabric_schema(), Strictness::kUserFile);
  Fabric fabric;
  static_cast<Record&>(fabric) = std::move(document.record);
  fill(&fabric, fabric_schema(), fabric.facts, fabric.file);
  return fabric;
}

Chip find_chip(std::string_view name_or_file, const Catalog& catalog) {
  if (name_or_file.ends_with(".toml")) return load_chip_file(fs::path(name_or_file), catalog);
  return catalog.chip(name_or_file);
}

}  // namespace trnsim::catalog
