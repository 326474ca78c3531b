#pragma once

/// Training: the trainer with its options, runs and checkpoints, tasks and the registry of their kinds, optimizers,
/// schedules, loaders of batches, and the processes that train one model together. Link cachet::cachet.

#include "cachet/data/loader.h"
#include "cachet/processes/meeting.h"
#include "cachet/tasks/abilities.h"
#include "cachet/tasks/recipe.h"
#include "cachet/tasks/task.h"
#include "cachet/tasks/task_kinds.h"
#include "cachet/tasks/task_plan.h"
#include "cachet/train/checkpoints/checkpoint.h"
#include "cachet/train/checkpoints/checkpoint_store.h"
#include "cachet/train/data_parallel/joint_training.h"
#include "cachet/train/machine/device.h"
#include "cachet/train/machine/process_setup.h"
#include "cachet/train/optimizer/optimizer.h"
#include "cachet/train/optimizer/schedule.h"
#include "cachet/train/optimizer/weight_average.h"
#include "cachet/train/options.h"
#include "cachet/train/runs/event_log.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/step/recalibration.h"
#include "cachet/train/step/training_step.h"
#include "cachet/train/trainer.h"
#include "cachet/train/training_task.h"
