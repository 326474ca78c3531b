// Weights of language and translation models under the names of others, and back.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/io/error.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/models/registry.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/tasks/weights/model_folder.h"
#include "cachet/tasks/weights/model_recipe.h"
#include "cachet/tasks/weights/weight_export.h"
#include "cachet/tasks/weights/weight_import.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::tasks {
namespace {

using TextSettings = std::vector<std::string>;

struct TextModel {
  config::Document recipe;
  models::ModelPlan plan;
  std::string input;
  std::shared_ptr<models::Model> model;

  SavedModel saved() const { return {plan, io::state_dict(*model)}; }
};

TextModel text_model(const std::string& name, const TextSettings& settings) {
  TextModel made;
  made.recipe.set("model.name=" + name);
  for (const std::string& setting : settings) made.recipe.set("model." + setting);
  ModelRecipe read = read_model_recipe(made.recipe);
  made.plan = std::move(read.plan);
  made.input = std::move(read.input);
  made.recipe.finish();
  made.model = made.plan.build();
  const at::NoGradGuard no_grad;
  for (at::Tensor& parameter : made.model->parameters()) parameter.add_(at::randn_like(parameter));
  return made;
}

TextSettings small_language_model(const TextSettings& more = {}) {
  TextSettings all{"vocabulary=40", "embed_dim=12", "depth=2",          "num_heads=2",
                   "mlp_dim=20",    "dropout=0",    "cutoffs=[10, 20]", "target_length=6"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TextSettings small_translation_model(const TextSettings& more = {}) {
  TextSettings all{"source_vocabulary=30", "target_vocabulary=30", "embed_dim=16",    "encoder_depth=2",
                   "decoder_depth=1",      "encoder_heads=2",      "decoder_heads=2", "encoder_mlp_dim=20",
                   "decoder_mlp_dim=24",   "source_length=12",     "target_length=12"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

struct TextCase {
  const char* name;
  io::NameSource source;
  TextSettings settings;
  std::vector<std::string> theirs;  // some of the names that it must get
};

const std::vector<TextCase>& text_cases() {
  using enum io::NameSource;
  static const std::vector<TextCase> cases{
      {"transformer_xl_small",
       transformer_xl,
       small_language_model(),
       {"r_w_bias", "pos_emb.inv_freq", "crit.out_layers.0.weight", "layers.1.pos_ff.CoreNet.3.bias"}},
      {"transformer_xl_small",
       transformer_xl,
       small_language_model({"tie_tables=false", "norm_place=before"}),
       {"crit.out_layers.0.weight"}},
      {"transformer_xl_small",
       transformer_xl,
       small_language_model({"division=2"}),
       {"word_emb.emb_projs.1", "crit.out_projs.2", "crit.out_layers.2.weight"}},
      {"transformer_xl_small",
       transformer_xl,
       small_language_model({"division=2", "tie_projections=false"}),
       {"crit.out_projs.1"}},
      {"transformer_xl_small",
       transformer_xl,
       small_language_model({"memory_tokens=3", "memory_tokens_recurrent=true"}),
       {"mem_tokens"}},
      {"transformer_iwslt_de_en",
       fairseq,
       small_translation_model(),
       {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "decoder.output_projection.weight",
        "decoder.version", "decoder.layers.0.encoder_attn.v_proj.bias", "encoder.layer_norm.weight"}},
      {"transformer_iwslt_de_en",
       fairseq,
       small_translation_model({"share_embeddings=target", "source_vocabulary=20", "norm_place=after"}),
       {"decoder.output_projection.weight"}},
      {"transformer_iwslt_de_en",
       fairseq,
       small_translation_model({"share_embeddings=none"}),
       {"decoder.output_projection.weight"}},
      {"transformer_iwslt_de_en", cachet, small_translation_model({"cache.kind=grc", "norm.kind=un"}), {}},
      {"causal_transformer_small", cachet, small_language_model({"norm.kind=un"}), {}},
  };
  return cases;
}

TEST(TextWeights, GoOutAndComeBackBitForBit) {
  for (const TextCase& each : text_cases()) {
    SCOPED_TRACE(std::string(each.name) + " as " + std::string(io::to_string(each.source)));
    const test::TemporaryDirectory folder;
    const TextModel source = text_model(each.name, each.settings), target = text_model(each.name, each.settings);
    const io::TensorMap exported = export_weights(source.saved(), each.source);
    for (const std::string& name : each.theirs) EXPECT_TRUE(exported.contains(name)) << name;
    io::write_safetensors(folder / "theirs.safetensors", exported);
    const WeightImportReport report = import_weights(*target.model, folder / "theirs.safetensors");
    EXPECT_EQ(report.source, each.source);
    EXPECT_TRUE(report.fresh.empty() && report.left_over.empty() && report.missing.empty());
    const io::TensorMap before = io::state_dict(*source.model), after = io::state_dict(*target.model);
    EXPECT_EQ(report.loaded.size(), before.size());
    for (const auto& [name, tensor] : after) EXPECT_TRUE(at::equal(tensor, before.at(name))) << name;
    const io::TensorMap again = export_weights(target.saved(), each.source);
    ASSERT_EQ(again.size(), exported.size());
    for (const auto& [name, tensor] : exported) EXPECT_TRUE(at::equal(tensor, again.at(name))) << name;
  }
}

// As safetensors saves them: a tensor that has several names under one of these.
TEST(TextWeights, SharedTablesAreFoundUnderAnyOfTheirNames) {
  int64_t groups = 0;
  for (const TextCase& each : text_cases()) {
    SCOPED_TRACE(std::string(each.name) + " as " + std::string(io::to_string(each.source)));
    const test::TemporaryDirectory folder;
    const TextModel source = text_model(each.name, each.settings);
    const io::TensorMap before = io::state_dict(*source.model), exported = export_weights(source.saved(), each.source);
    for (const auto& [kept, tensor] : exported) {
      if (tensor.dim() != 2) continue;
      io::TensorMap once = exported;
      std::erase_if(once, [&, &kept = kept, &tensor = tensor](const auto& other) {
        return other.first != kept && other.second.dim() == 2 && at::equal(other.second, tensor);
      });
      if (once.size() == exported.size()) continue;
      SCOPED_TRACE(kept);
      ++groups;
      io::write_safetensors(folder / "once.safetensors", once);
      const TextModel target = text_model(each.name, each.settings);
      const WeightImportReport report = import_weights(*target.model, folder / "once.safetensors");
      EXPECT_EQ(report.source, each.source);
      for (const auto& [name, after] : io::state_dict(*target.model))
        EXPECT_TRUE(at::equal(after, before.at(name))) << name;
    }
  }
  EXPECT_GE(groups, 12) << "cases without shared tables try nothing";
}

TEST(TextWeights, PlainOnesFillACachedModel) {
  const test::TemporaryDirectory folder;
  const TextModel plain = text_model("transformer_xl_small", small_language_model());
  const TextModel cached = text_model("transformer_xl_small", small_language_model({"cache.kind=grc"}));
  io::write_safetensors(folder / "w.safetensors", export_weights(plain.saved(), io::NameSource::transformer_xl));
  const WeightImportReport report = import_weights(*cached.model, folder / "w.safetensors");
  EXPECT_TRUE(report.left_over.empty() && report.missing.empty());
  EXPECT_EQ(report.loaded.size(), io::state_dict(*plain.model).size());
  for (const auto& fresh : report.fresh)
    EXPECT_EQ(fresh.name.find(".self_attention."), std::string::npos) << fresh.name;
}

TEST(TextWeights, WhatDoesNotFitIsNamed) {
  const test::TemporaryDirectory folder;
  const TextModel model = text_model("transformer_xl_small", small_language_model());
  const auto refusal = [&](const std::function<void(io::TensorMap&)>& change) {
    io::TensorMap theirs = export_weights(model.saved(), io::NameSource::transformer_xl);
    change(theirs);
    io::write_safetensors(folder / "w.safetensors", theirs);
    return test::thrown_message<io::Error>([&] { import_weights(*model.model, folder / "w.safetensors"); });
  };
  const auto expect = [](const std::string& said, const char* part) {
    EXPECT_NE(said.find(part), std::string::npos) << said;
  };
  expect(refusal([](auto& all) { all.erase("layers.1.dec_attn.r_net.weight"); }),
         "1 missing (blocks.1.attn.position.weight)");
  expect(refusal([](auto& all) { all["layers.2.pos_ff.CoreNet.0.bias"] = at::zeros({20}); }),
         "1 left over (blocks.2.mlp.fc1.bias)");
  expect(refusal([](auto& all) {
           all["crit.out_layers.0.weight"] = at::zeros({40, 12});
         }),
         "are the same tensor in the model, but two different tensors in the file");
  expect(refusal([](auto& all) {
           for (const char* name : {"word_emb.emb_layers.0.weight", "crit.out_layers.0.weight"})
             all[name] = at::zeros({50, 12});
         }),
         "embedding.table_0 is [50, 12], but the model has [40, 12]");
  expect(refusal([](auto& all) { all.erase("layers.0.dec_attn.qkv_net.weight"); }), "1 missing");

  const TextModel translation = text_model("transformer_iwslt_de_en", small_translation_model());
  io::TensorMap theirs = export_weights(translation.saved(), io::NameSource::fairseq);
  theirs.erase("encoder.layers.1.self_attn.k_proj.weight");
  io::write_safetensors(folder / "t.safetensors", theirs);
  expect(test::thrown_message<io::Error>([&] { import_weights(*translation.model, folder / "t.safetensors"); }),
         "encoder.layers.1.self_attn.k_proj.weight");
}

TEST(TextWeights, HaveNoNamesWhereOthersHaveNoSuchParts) {
  const auto refusal = [](const char* name, const TextSettings& settings, io::NameSource source) {
    const TextModel model = text_model(name, settings);
    return test::thrown_message<io::Error>([&] { export_weights(model.saved(), source); });
  };
  using enum io::NameSource;
  const auto expect = [](const std::string& said, const char* part) {
    EXPECT_NE(said.find(part), std::string::npos) << said;
    EXPECT_NE(said.find("`--names cachet`"), std::string::npos) << said;
  };
  expect(refusal("transformer_xl_small", small_language_model({"cache.kind=grc"}), transformer_xl), "has a part that");
  expect(refusal("transformer_xl_small", small_language_model({"norm.kind=un"}), transformer_xl), "norm1.");
  expect(refusal("transformer_iwslt_de_en", small_translation_model({"norm.kind=un"}), fairseq), "has a part that");
  expect(refusal("transformer_iwslt_de_en", small_translation_model({"cache.kind=grc"}), fairseq), "has a part that");
  expect(refusal("transformer_iwslt_de_en", small_translation_model({"attention.kind=elu"}), fairseq),
         "model.attention.kind");
  for (const io::NameSource other : {timm, pvt, swin, t2t, grc, mmdetection, fairseq})
    expect(refusal("transformer_xl_small", small_language_model({"cache.kind=grc"}), other), "has no names in");
  expect(refusal("transformer_iwslt_de_en", small_translation_model(), transformer_xl), "has no names in");
  expect(refusal("causal_transformer_small", small_language_model(), transformer_xl), "has no names in");
}

TEST(TextWeights, AModelFolderSaysWhatItIs) {
  const test::TemporaryDirectory folder;
  for (const TextCase& each : text_cases()) {
    SCOPED_TRACE(each.name);
    const TextModel source = text_model(each.name, each.settings);
    write_model_folder(folder / "model", io::state_dict(*source.model), source.recipe,
                       {.architecture = each.name, .input = source.input});
    const SavedModel saved = open_saved_model(folder / "model");
    EXPECT_EQ(saved.plan.name, each.name);
    EXPECT_EQ(saved.plan.input.text, source.plan.input.text);
    EXPECT_EQ(saved.weights.size(), io::state_dict(*source.model).size());
    // Read as a run, whose recipe does not name the folder of the data.
    const RecipePlan plan = read_saved_plan(folder / "model");
    EXPECT_EQ(plan.model().name, each.name);
    ASSERT_TRUE(plan.task->absent_data());
    const TextModel target = text_model(each.name, each.settings);
    import_weights(*target.model, folder / "model");
    for (const auto& [name, tensor] : io::state_dict(*target.model))
      EXPECT_TRUE(at::equal(tensor, saved.weights.at(name))) << name;
  }
  for (const models::ModelInput& input :
       {models::input_of(models::LanguageShape()), models::input_of(models::TranslationShape()),
        models::input_of(models::SequenceShape())})
    EXPECT_EQ(usual_names({"a model", input, {}}), io::NameSource::cachet) << input.kind;
}

}  // namespace
}  // namespace cachet::tasks
